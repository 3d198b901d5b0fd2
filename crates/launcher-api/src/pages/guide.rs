//! The guide for students. That for teachers is `classes::guide`.

use askama::Template;

use crate::pages::{Language, PageResult, Shell, Visitor, assets, markdown, page};

#[derive(Debug, Template)]
#[template(path = "guide.html")]
struct Guide {
    t: Language,
    shell: Shell,
    text: String,
}

pub(crate) async fn students(visitor: Visitor) -> PageResult {
    let t = visitor.t;
    page(&Guide { t, shell: visitor.shell(""), text: markdown::to_html(t.document("students")) })
}
