//! `GET /classes/{class}/projector`: the numbers of the board in large letters, without names, for the whole class to see.

use askama::Template;

use crate::pages::classes::board::{Count, counts, rows};
use crate::pages::classes::path;
use crate::pages::{Language, PageResult, Shell, Visitor, assets, page};
use crate::permission::{InClass, WatchClass};

#[derive(Debug, Template)]
#[template(path = "class_projector.html")]
struct Projector {
    t: Language,
    shell: Shell,
    path: String,
    name: String,
    counts: Vec<Count>,
}

/// Serves the page.
pub(crate) async fn show(visitor: InClass<WatchClass, Visitor>) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    page(&Projector {
        t,
        shell: visitor.shell("classes"),
        path: path(access),
        name: access.class().content.name.clone(),
        counts: counts(t, &rows(&visitor, access).await?),
    })
}
