//! `GET /classes/{class}/projector`: the code of the join link and the numbers of the board in large letters, without names, for
//! the whole class to see.

use askama::Template;

use crate::pages::classes::board::{Standing, counts, rows};
use crate::pages::classes::join::{CurrentLink, LinkPanel};
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
    /// The join link, for a reader who may create links.
    link: Option<CurrentLink>,
    counts: Vec<(Standing, usize)>,
}

pub(crate) async fn show(visitor: InClass<WatchClass, Visitor>) -> PageResult {
    let access = &visitor.access;
    page(&Projector {
        t: visitor.t,
        shell: visitor.shell("classes"),
        path: path(access),
        name: access.class().content.name.clone(),
        link: LinkPanel::new(&visitor, access).await?.and_then(|panel| panel.current),
        counts: counts(&rows(&visitor, access).await?),
    })
}
