//! `GET /signed-out`: where a browser comes after signing out. Whoever is nobody is told so by the page of the 401
//! ([`super::errors`]).

use axum::response::Redirect;

use crate::identity::Identified;

pub(crate) const PATH: &str = "/signed-out";

/// Somebody who is signed in has nothing to look for here.
pub(crate) async fn leave(_: Identified) -> Redirect {
    Redirect::to("/")
}
