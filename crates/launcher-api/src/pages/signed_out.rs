//! `GET /signed-out`: the page after signing out. For an unauthenticated request, `errors.rs` writes the text of this
//! page.

use axum::response::Redirect;

use crate::identity::Identified;

pub(crate) const PATH: &str = "/signed-out";

/// Redirects a user who is still signed in to the start page.
pub(crate) async fn leave(_: Identified) -> Redirect {
    Redirect::to("/")
}
