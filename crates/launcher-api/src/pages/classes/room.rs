//! `GET /classes/{class}`: the room of a class: its templates, and for those who may watch the board.

use http::StatusCode;
use launcher_domain::{ClassAccess, ClassAction, ClassMessage, Template};
use launcher_service::{Page, ServiceError};

use crate::pages::classes::board::{Board, BoardQuery};
use crate::pages::classes::hands::News;
use crate::pages::classes::join::{LinkPanel, NewLink};
use crate::pages::classes::{ClassLink, ROWS, path};
use crate::pages::view::{Card, Notice};
use crate::pages::{
    Language, PageResult, Query, Shell, Text, Visitor, assets, markdown, notices, page_with, workshops,
};
use crate::permission::{InClass, ReadClass};

/// What a page of the room shows beside the room itself.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) notice: Option<Notice>,
    /// The pasted list of new members, if it has errors.
    pub(crate) addresses: String,
    pub(crate) errors: Vec<String>,
    /// The folded form that has the errors.
    pub(crate) open: Option<Form>,
    /// The form of a new join link, if it has errors.
    pub(crate) link: NewLink,
    /// The text of a message to all, if it has errors.
    pub(crate) message: String,
    pub(crate) query: BoardQuery,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Members,
    Link,
    Message,
}

#[derive(Debug, askama::Template)]
#[template(path = "class.html")]
struct ClassPage {
    t: Language,
    shell: Shell,
    class: ClassLink,
    description: String,
    /// Each template, and why students cannot launch it: only teachers see archived ones.
    cards: Vec<(Card, Option<Text>)>,
    can_launch: bool,
    /// True if a template can be launched for all.
    can_launch_for_all: bool,
    can_edit: bool,
    news: News,
    /// True if a template keeps files, so that workshops can be paused.
    can_pause: bool,
    board: Option<Board>,
    /// The join link, for teachers.
    link: Option<LinkPanel>,
    room: Room,
}

pub(crate) async fn show(visitor: InClass<ReadClass, Visitor>, Query(query): Query<BoardQuery>) -> PageResult {
    render(&visitor, &visitor.access, StatusCode::OK, Room { query, ..Room::default() }).await
}

pub(crate) async fn render(visitor: &Visitor, access: &ClassAccess, status: StatusCode, room: Room) -> PageResult {
    let t = visitor.t;
    let templates = visitor.launcher.templates(access, &Page { limit: ROWS, after: None }).await?;
    let own = workshops::own_live(visitor).await?;
    let watches = access.allows(ClassAction::Watch);
    let board = if watches { Some(Board::new(visitor, access, &room.query).await?) } else { None };
    let shell = visitor.shell("classes");
    let answers = room.notice.is_some() || room.open.is_some() || !room.errors.is_empty();
    let content = &access.class().content;
    let state = |template: &Template| match template.active {
        false => Some(t.text("archived")),
        true => (!content.refusals(&template.settings, visitor.launcher.sizes()).is_empty())
            .then(|| t.text("not-allowed-here")),
    };
    let class_page = ClassPage {
        t,
        shell: if answers { shell.returning_to(path(access)) } else { shell },
        class: ClassLink::new(visitor, access),
        description: markdown::to_html(&access.class().content.description),
        cards: templates.iter().map(|template| (Card::new(visitor, template).beside(&own), state(template))).collect(),
        can_launch: access.closure(visitor.launcher.clock().now()).is_none(),
        can_launch_for_all: templates.iter().any(|template| template.active),
        can_edit: access.allows(ClassAction::ManageTemplates),
        news: News::new(visitor, access).await?,
        can_pause: templates.iter().any(|template| template.settings.keeps_files()),
        board,
        link: LinkPanel::new(visitor, access).await?,
        room,
    };
    page_with(status, &class_page)
}

/// Shows the room with the errors of a form, which `room` has otherwise. Another error has its own page.
pub(super) async fn refuse(visitor: &Visitor, access: &ClassAccess, error: ServiceError, room: Room) -> PageResult {
    let ServiceError::Invalid(wrong) = error else { return Err(error.into()) };
    let errors = wrong.iter().map(|error| visitor.t.field_error(error)).collect();
    render(visitor, access, StatusCode::UNPROCESSABLE_ENTITY, Room { errors, ..room }).await
}

/// Shows the room with the notice of an error. An error without a notice has its own page.
pub(super) async fn notify(visitor: &Visitor, access: &ClassAccess, error: ServiceError) -> PageResult {
    let Some((status, notice)) = notices::of(visitor.t, &error, true) else { return Err(error.into()) };
    render(visitor, access, status, Room { notice: Some(notice), ..Room::default() }).await
}
