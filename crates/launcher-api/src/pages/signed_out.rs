//! `GET /signed-out`: the page after signing out. Unauthenticated requests get its text on the page of the 401
//! ([`super::errors`]).

use axum::response::Redirect;

use crate::identity::Identified;

pub(crate) const PATH: &str = "/signed-out";

/// Redirects people who are still signed in to the start page.
pub(crate) async fn leave(_: Identified) -> Redirect {
    Redirect::to("/")
}
