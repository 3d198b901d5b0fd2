//! The guides for students and teachers.

use askama::Template;

use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, markdown, page};

#[derive(Debug, Template)]
#[template(path = "guide.html")]
struct Guide {
    t: Language,
    shell: Shell,
    title: Text,
    text: String,
}

pub(crate) async fn students(visitor: Visitor) -> PageResult {
    show(&visitor, "students-guide", "students")
}

pub(crate) async fn teachers(visitor: Visitor) -> PageResult {
    show(&visitor, "teachers-guide", "teachers")
}

fn show(visitor: &Visitor, title: &str, document: &str) -> PageResult {
    let t = visitor.t;
    let text = markdown::to_html(t.document(document));
    page(&Guide { t, shell: visitor.shell(""), title: t.text(title), text })
}
