//! The guides for students and teachers.

use askama::Template;
use axum::extract::State;
use http::StatusCode;

use super::html::{PageResult, page, shell};
use super::language::{Language, Text};
use super::markdown;
use super::view::Shell;
use crate::assets;
use crate::identity::Identified;
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "guide.html")]
struct Guide {
    t: Language,
    shell: Shell,
    title: Text,
    /// The guide as HTML.
    text: String,
}

/// `GET /guide/students`.
pub(crate) async fn students(state: State<AppState>, t: Language, caller: Identified) -> PageResult {
    show(&state, &caller, t, t.text("students-guide"), t.document("students"))
}

/// `GET /guide/teachers`.
pub(crate) async fn teachers(state: State<AppState>, t: Language, caller: Identified) -> PageResult {
    show(&state, &caller, t, t.text("teachers-guide"), t.document("teachers"))
}

fn show(state: &AppState, Identified(caller): &Identified, t: Language, title: Text, text: &str) -> PageResult {
    page(StatusCode::OK, &Guide { t, shell: shell(state, caller, t, ""), title, text: markdown::to_html(text) })
}
