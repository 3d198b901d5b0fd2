//! The guides for students and teachers.

use askama::Template;
use axum::extract::State;
use http::StatusCode;

use super::html::{PageResult, page, shell};
use super::view::Shell;
use super::{assets, markdown, texts};
use crate::identity::Identified;
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "guide.html")]
struct Guide {
    shell: Shell,
    title: &'static str,
    /// The guide as HTML.
    text: String,
}

/// `GET /guide/students`.
pub(crate) async fn students(state: State<AppState>, caller: Identified) -> PageResult {
    show(&state, &caller, texts::STUDENTS_GUIDE, texts::STUDENTS_GUIDE_TEXT)
}

/// `GET /guide/teachers`.
pub(crate) async fn teachers(state: State<AppState>, caller: Identified) -> PageResult {
    show(&state, &caller, texts::TEACHERS_GUIDE, texts::TEACHERS_GUIDE_TEXT)
}

fn show(state: &AppState, Identified(caller): &Identified, title: &'static str, text: &str) -> PageResult {
    page(StatusCode::OK, &Guide { shell: shell(state, caller, ""), title, text: markdown::to_html(text) })
}
