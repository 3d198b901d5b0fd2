//! "My workshops": the start page, its list of workshops, the responses to actions on that list, and the history of
//! ended workshops.

use askama::Template;
use http::StatusCode;
use jiff::SignedDuration;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{ClassClosure, EndReason, InstanceState, SnapshotState, Template as CatalogTemplate};
use launcher_service::{ListedInstance, Page, ServiceError, StateFilter};
use serde::Deserialize;
use uuid::Uuid;

use crate::pages::classes::path_of;
use crate::pages::forms::AfterQuery;
use crate::pages::view::{Card, Notice, SnapshotView, WorkshopView};
use crate::pages::{Language, PageResult, Query, Shell, Visitor, assets, forms, notices, page, page_with};
use crate::permission::{ListAllInstances, allows};

/// Number of templates up to which the catalog has no search field.
const SEARCH_THRESHOLD: usize = 6;
/// Maximum number of workshops in the list, because a longer list would make the page slow.
const MAX_SHOWN: usize = 100;
/// Time for which the start page shows that the caller's newest workshop has ended.
const SHOWS_END: SignedDuration = SignedDuration::from_hours(12);
const PAGE: u32 = 500;

#[derive(Debug, Template)]
#[template(path = "home.html")]
struct Home {
    t: Language,
    shell: Shell,
    notice: Option<Notice>,
    list: List,
    /// The reader's classes: name, path, and current message.
    classes: Vec<(String, String, Option<String>)>,
    /// Templates of the reader's classes.
    cards: Vec<Card>,
    /// Templates of the shared catalog.
    shared: Vec<Card>,
    /// True if a class of the reader folds the shared catalog.
    folds_shared: bool,
    /// Number of entries in the whole catalog, without the search.
    offered: usize,
    search: String,
}

/// The list of the caller's workshops, without the frame of a page.
#[derive(Debug, Template)]
#[template(path = "workshops.html")]
struct List {
    t: Language,
    /// True if the list is the response to an action. Only such a response also replaces the notice, which is an
    /// element outside the list. When the page reloads the list, the notice stays.
    answers: bool,
    notice: Option<Notice>,
    ended: Option<WorkshopView>,
    workshops: Vec<WorkshopView>,
    more: Option<More>,
    now: String,
    live: bool,
    return_to: &'static str,
}

impl Home {
    fn is_waiting(&self) -> bool {
        self.list.workshops.iter().any(WorkshopView::is_waiting)
    }

    fn found(&self) -> usize {
        self.cards.len() + self.shared.len()
    }

    fn is_searchable(&self) -> bool {
        self.offered > SEARCH_THRESHOLD || !self.search.is_empty()
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct HomeQuery {
    /// Words that an entry must contain, in any order. An empty text selects all entries.
    #[serde(default)]
    q: String,
}

/// `GET /`: the start page, with the caller's workshops and the catalog.
pub(crate) async fn home(visitor: Visitor, Query(query): Query<HomeQuery>) -> PageResult {
    render_home(&visitor, StatusCode::OK, None, query.q.trim()).await
}

/// `GET /fragments/workshops`: only the list of the caller's workshops.
pub(crate) async fn list(visitor: Visitor) -> PageResult {
    page(&List::new(&visitor).await?)
}

/// Returns the reader's own workshops that are not terminated, newest first.
pub(super) async fn own_live(visitor: &Visitor) -> Result<Vec<WorkshopView>, ServiceError> {
    Ok(own_workshops(visitor).await?.0)
}

/// Answers an action on a workshop. A browser gets a redirect to the next page, or the error. htmx gets the current
/// list, with a notice if the action failed.
pub(crate) async fn answer<T>(visitor: &Visitor, outcome: Result<T, ServiceError>, next: &LocalPath) -> PageResult {
    match outcome {
        Ok(_) if visitor.is_htmx => render_answer(visitor, StatusCode::OK, None).await,
        Ok(_) => Ok(forms::redirect(next.as_str())),
        Err(error) => refuse(visitor, error, None).await,
    }
}

/// Answers an action that failed, like [`answer`]. `back` is the path of the page if it has no list of the reader's workshops:
/// its notice then has the workshops that prevent a launch.
pub(crate) async fn refuse(visitor: &Visitor, error: ServiceError, back: Option<String>) -> PageResult {
    let Some((status, notice)) = notices::of(visitor.t, &error, visitor.is_htmx) else { return Err(error.into()) };
    let notice = match back.filter(|_| visitor.is_htmx) {
        Some(back) => notice.with_blockers(visitor, &error, back).await?,
        None => notice,
    };
    let mut response = if visitor.is_htmx {
        // htmx does not insert the answer of a 5xx status, so the notice would not appear.
        let status = if status.is_server_error() { StatusCode::CONFLICT } else { status };
        render_answer(visitor, status, Some(notice)).await?
    } else {
        render_home(visitor, status, Some(notice), "").await?
    };
    notices::set_retry_after(&mut response, &error);
    Ok(response)
}

async fn render_home(visitor: &Visitor, status: StatusCode, notice: Option<Notice>, search: &str) -> PageResult {
    let list = List::new(visitor).await?;
    let is_offered = |template: &CatalogTemplate| template.active && !template.listing.unlisted;
    let (mut templates, mut classes) = (Vec::new(), Vec::new());
    let mut own_classes = visitor.launcher.own_classes(&visitor.caller).await?;
    let now = visitor.launcher.clock().now();
    own_classes.retain(|access| access.class().content.closure(now) != Some(ClassClosure::Over));
    for access in &own_classes {
        let name = &access.class().content.name;
        let message = visitor.launcher.class_message(access).await?.map(|message| message.text);
        classes.push((name.clone(), path_of(access.class()), message));
        let page = Page { limit: PAGE, after: None };
        templates.extend(visitor.launcher.templates(access, &page).await?.into_iter().filter(is_offered));
    }
    // The templates of the reader's classes come first.
    let mut shared = all_templates(visitor).await?;
    shared.retain(is_offered);
    shared.sort_by_cached_key(|template| template.settings.name.to_lowercase());
    let class_name = |template: &CatalogTemplate| {
        let of = own_classes.iter().find(|access| Some(access.class().class_id) == template.class_id);
        of.map(|access| access.class().content.name.clone())
    };
    let offered = templates.len() + shared.len();
    let cards = |templates: &[CatalogTemplate]| {
        let found = templates.iter().filter(|template| has_words(visitor.t, template, search));
        let card = |template| Card { class: class_name(template), ..Card::new(visitor, template) };
        found.map(|template| card(template).beside(&list.workshops)).collect::<Vec<_>>()
    };
    let frame = visitor.shell("home");
    let home = Home {
        t: visitor.t,
        // A page with a notice answers a form.
        shell: if notice.is_some() { frame.returning_to("/") } else { frame },
        notice,
        cards: cards(&templates),
        shared: cards(&shared),
        folds_shared: own_classes.iter().any(|access| access.class().content.folds_catalog),
        classes,
        list,
        offered,
        search: search.to_owned(),
    };
    page_with(status, &home)
}

/// Returns true if name, description and app type of a template together contain all words of the search.
fn has_words(t: Language, template: &CatalogTemplate, search: &str) -> bool {
    let settings = &template.settings;
    let (app, tags) = (t.named("app-{}", settings.app_type.as_str()), template.listing.tags.join("\n"));
    let text = [&*settings.name, &settings.description, &app, &tags].join("\n").to_lowercase();
    search.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

async fn render_answer(visitor: &Visitor, status: StatusCode, notice: Option<Notice>) -> PageResult {
    page_with(status, &List { answers: true, notice, ..List::new(visitor).await? })
}

impl List {
    async fn new(visitor: &Visitor) -> Result<Self, ServiceError> {
        let (workshops, more) = own_workshops(visitor).await?;
        Ok(Self {
            t: visitor.t,
            answers: false,
            notice: None,
            ended: just_ended(visitor, &workshops).await?,
            workshops,
            more,
            now: visitor.machine_now(),
            live: true,
            return_to: "/",
        })
    }
}

/// Shows that the caller has more workshops than the list contains.
#[derive(Debug)]
struct More {
    /// Link to the full list, if the caller has access to it.
    link: Option<String>,
}

/// Returns the caller's own workshops that are not terminated: the running ones before the others, each newest first.
/// Admins also get only their own workshops.
async fn own_workshops(visitor: &Visitor) -> Result<(Vec<WorkshopView>, Option<More>), ServiceError> {
    let page = Page { limit: MAX_SHOWN as u32 + 1, after: None };
    let listed = visitor.launcher.instances(&visitor.caller, &visitor.own(StateFilter::Live), &page).await?;
    let more = (listed.len() > MAX_SHOWN).then(|| {
        let owner: String = form_urlencoded::byte_serialize(visitor.caller.email().as_str().as_bytes()).collect();
        let lists_all = allows::<ListAllInstances>(&visitor.caller);
        More { link: lists_all.then(|| format!("/admin/instances?owner={owner}")) }
    });
    let mut shown: Vec<_> = listed.iter().take(MAX_SHOWN).map(|listed| WorkshopView::new(visitor, listed)).collect();
    shown.sort_by_key(|workshop| workshop.state != InstanceState::Running);
    Ok((shown, more))
}

/// Returns the caller's newest ended workshop, if it ended less than [`SHOWS_END`] ago without an action of the caller, or
/// if its files could not be saved. Returns `None` if the caller has another workshop of its template in `workshops`.
async fn just_ended(visitor: &Visitor, workshops: &[WorkshopView]) -> Result<Option<WorkshopView>, ServiceError> {
    let page = Page { limit: 1, after: None };
    let newest = visitor.launcher.instances(&visitor.caller, &visitor.own(StateFilter::Ended), &page).await?;
    let now = visitor.launcher.clock().now();
    let is_shown = |ended: &ListedInstance| {
        let ListedInstance { instance, .. } = ended;
        let is_unexpected = instance.end_reason.is_some_and(EndReason::is_unexpected);
        let has_lost_files = instance.snapshot.as_ref().is_some_and(|snapshot| snapshot.state == SnapshotState::Failed);
        (is_unexpected || has_lost_files)
            && instance.ended_at.is_some_and(|at| now.duration_since(at) < SHOWS_END)
            && workshops.iter().all(|workshop| workshop.template_id != instance.template_id)
    };
    let Some(ended) = newest.first().filter(|ended| is_shown(ended)) else { return Ok(None) };
    let snapshot = SnapshotView::dated(visitor, &ended.instance).await?;
    Ok(Some(WorkshopView { snapshot, ..WorkshopView::new(visitor, ended) }))
}

/// Returns the caller's workshops of this template that are not terminated, among the newest [`MAX_SHOWN`] of the
/// caller.
pub(super) async fn own_workshops_of(visitor: &Visitor, template_id: Uuid) -> Result<Vec<WorkshopView>, ServiceError> {
    let (mut workshops, _) = own_workshops(visitor).await?;
    workshops.retain(|workshop| workshop.template_id == template_id);
    Ok(workshops)
}

/// Returns the whole catalog. For admins it includes archived templates.
pub(crate) async fn all_templates(visitor: &Visitor) -> Result<Vec<CatalogTemplate>, ServiceError> {
    let mut all: Vec<CatalogTemplate> = Vec::new();
    loop {
        let after = all.last().map(|template| template.template_id);
        let part = visitor.launcher.templates(&visitor.caller, &Page { limit: PAGE, after }).await?;
        let last = part.len() < PAGE as usize;
        all.extend(part);
        if last {
            return Ok(all);
        }
    }
}

const HISTORY_ROWS: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "history.html")]
struct HistoryPage {
    t: Language,
    shell: Shell,
    workshops: Vec<WorkshopView>,
    older: Option<String>,
}

pub(crate) async fn history(visitor: Visitor, Query(query): Query<AfterQuery>) -> PageResult {
    let cut = Page { limit: HISTORY_ROWS, after: Uuid::try_parse(&query.after).ok() };
    let listed = visitor.launcher.instances(&visitor.caller, &visitor.own(StateFilter::Ended), &cut).await?;
    let last = listed.last().filter(|_| listed.len() == HISTORY_ROWS as usize);
    let history = HistoryPage {
        t: visitor.t,
        shell: visitor.shell("history"),
        older: last.map(|last| format!("/history?after={}", last.instance.instance_id)),
        workshops: listed.iter().map(|listed| WorkshopView::new(&visitor, listed)).collect(),
    };
    page(&history)
}
