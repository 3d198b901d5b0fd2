//! The guides for students and teachers.

use askama::Template;
use http::StatusCode;

use super::html::{PageResult, page};
use super::language::{Language, Text};
use super::markdown;
use super::view::Shell;
use super::visitor::Visitor;
use crate::assets;

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
pub(crate) async fn students(visitor: Visitor) -> PageResult {
    show(&visitor, "students-guide", "students")
}

/// `GET /guide/teachers`.
pub(crate) async fn teachers(visitor: Visitor) -> PageResult {
    show(&visitor, "teachers-guide", "teachers")
}

fn show(visitor: &Visitor, title: &str, document: &str) -> PageResult {
    let t = visitor.t;
    let text = markdown::to_html(t.document(document));
    page(StatusCode::OK, &Guide { t, shell: visitor.shell(""), title: t.text(title), text })
}
