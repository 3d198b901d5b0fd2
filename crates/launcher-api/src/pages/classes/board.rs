//! The board of a class: its members with their workshops, for those who may watch. It follows an event stream.

use std::collections::HashMap;
use std::convert::Infallible;

use askama::Template;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt, future};
use jiff::Timestamp;
use launcher_domain::lifetime::Bound;
use launcher_domain::{ClassAccess, ClassAction, ClassRole, EmailAddress, InstanceState, Member};
use launcher_service::{Attendance, InstanceFilter, ListedInstance, Page, ServiceError, StateFilter};
use serde::Deserialize;

use crate::extract::InstanceName;
use crate::pages::classes::room::notify;
use crate::pages::classes::{ROWS, path};
use crate::pages::confirm::{Question, confirm, files_if_ended};
use crate::pages::events::KEEP_ALIVE;
use crate::pages::view::{Choice, Instant};
use crate::pages::{Fields, Language, PageResult, Query, ReturnForm, Text, Visitor, forms, page};
use crate::permission::{EndInClass, ExtendInClass, InClass, ReadClass, WatchClass};
use crate::problem::Problem;

/// Name of the event, as in the `hx-trigger` of the pages.
const CHANGED: &str = "class-changed";

/// Selects the members that the board shows. An empty or unknown value selects all.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct BoardQuery {
    /// Words that name or address contain, in any order.
    q: String,
    standing: String,
}

impl BoardQuery {
    fn includes(&self, row: &Row) -> bool {
        let text = format!("{} {}", row.name, row.email).to_lowercase();
        let is_wanted = Standing::parse(&self.standing).is_none_or(|wanted| !row.is_aside && row.standing == wanted);
        is_wanted && self.q.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

#[derive(Debug)]
pub(crate) struct Board {
    pub(super) path: String,
    /// The members that the query selects.
    pub(super) rows: Vec<Row>,
    /// Number of all rows, also of those that the query does not select.
    pub(super) all: usize,
    pub(super) search: String,
    pub(super) standings: Vec<Choice>,
    /// Number of members with each standing.
    pub(super) counts: Vec<(Standing, usize)>,
    pub(super) can_manage: bool,
    pub(super) can_end: bool,
}

#[derive(Debug, Template)]
#[template(path = "parts/class_board.html")]
struct BoardPart {
    t: Language,
    board: Board,
}

/// `GET /classes/{class}/board`: only the board.
pub(crate) async fn show(visitor: InClass<WatchClass, Visitor>, Query(query): Query<BoardQuery>) -> PageResult {
    let board = Board::new(&visitor, &visitor.access, &query).await?;
    page(&BoardPart { t: visitor.t, board })
}

/// `GET /classes/{class}/events`: notifies the open page of a class of changes. The page then loads its news, and the board of a
/// reader who watches the class. The stream ends when the caller loses the permission to watch, or leaves the class.
pub(crate) async fn stream(
    call: InClass<ReadClass>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let open = call.streams.open(&call.caller)?;
    let (launcher, access) = (&call.launcher, &call.access);
    let changes = if access.allows(ClassAction::Watch) {
        launcher.watch_class(access).boxed()
    } else {
        let mut before = None;
        let news = launcher.follow_attention(access).filter_map(move |attention| {
            let is_new = before.as_ref() != Some(&attention);
            before = Some(attention);
            future::ready(is_new.then_some(()))
        });
        news.boxed()
    };
    let events = changes.map(|()| Event::default().event(CHANGED).data("changed"));
    Ok(Sse::new(open.until_stop(&call, events)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(super) email: String,
    pub(super) name: String,
    /// Role; `None` for a student.
    pub(super) role: Option<Text>,
    /// False for a former member, and for an admin without a role, whose workshops are on the board.
    pub(super) is_member: bool,
    pub(super) standing: Standing,
    /// Latest end of a workshop of a member without one.
    pub(super) left: Option<Instant>,
    /// True for a teacher or an assistant without a workshop, who does not take part.
    pub(super) is_aside: bool,
    pub(super) workshops: Vec<RowWorkshop>,
}

#[derive(Debug)]
pub(crate) struct RowWorkshop {
    pub(super) k8s_name: String,
    pub(super) template: String,
    pub(super) state: InstanceState,
    pub(super) state_text: String,
    pub(super) failure: Option<String>,
    pub(super) trouble: Option<Text>,
    pub(super) ends: Option<Instant>,
    /// Last use of the running app.
    pub(super) used: Option<Instant>,
    pub(super) expected_expires_at: String,
}

impl RowWorkshop {
    fn new(t: Language, listed: &ListedInstance) -> Self {
        let instance = &listed.instance;
        let ends = instance.expires_at.filter(|_| instance.state == InstanceState::Running);
        Self {
            k8s_name: instance.k8s_name.clone(),
            template: instance.settings.name.clone(),
            state: instance.state,
            state_text: t.state(listed, instance.report.start_progress),
            failure: instance.failure().map(|failure| t.failure_message(&failure)),
            trouble: instance.material_trouble().map(|trouble| t.named("material-short-{}", trouble.as_str())),
            ends: ends.map(|end| Instant::new(t, end)),
            used: listed.used_at.filter(|_| instance.state == InstanceState::Running).map(|at| Instant::new(t, at)),
            expected_expires_at: ends.map(|end| end.to_string()).unwrap_or_default(),
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.state == InstanceState::Running
    }

    pub(super) fn can_end(&self) -> bool {
        !matches!(self.state, InstanceState::Terminating | InstanceState::Terminated)
    }
}

/// Standing of a member. The board shows earlier variants first: they need help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Failed,
    Trouble,
    Absent,
    Joined,
    Starting,
    Paused,
    Ready,
}

impl Standing {
    const ALL: [Self; 7] =
        [Self::Failed, Self::Trouble, Self::Absent, Self::Joined, Self::Starting, Self::Paused, Self::Ready];

    /// `absent`: the standing of a member without a workshop.
    pub(super) fn of(workshops: &[RowWorkshop], absent: Self) -> Self {
        let standing = |workshop: &RowWorkshop| match workshop.state {
            InstanceState::Failed => Self::Failed,
            _ if workshop.trouble.is_some() => Self::Trouble,
            InstanceState::Queued | InstanceState::Starting => Self::Starting,
            InstanceState::Suspending | InstanceState::Suspended => Self::Paused,
            InstanceState::Running => Self::Ready,
            InstanceState::Terminating | InstanceState::Terminated => absent,
        };
        workshops.iter().map(standing).min().unwrap_or(absent)
    }

    /// Name of the standing in queries.
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Trouble => "trouble",
            Self::Absent => "absent",
            Self::Joined => "joined",
            Self::Starting => "starting",
            Self::Paused => "paused",
            Self::Ready => "ready",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.name() == name)
    }

    pub(super) fn text(self, t: Language) -> Text {
        t.text(&format!("standing-{}", self.name()))
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Failed => "state-failed",
            Self::Trouble | Self::Starting => "state-starting",
            Self::Absent | Self::Joined => "",
            Self::Paused => "state-suspended",
            Self::Ready => "state-running",
        }
    }
}

impl Board {
    pub(crate) async fn new(visitor: &Visitor, access: &ClassAccess, query: &BoardQuery) -> Result<Self, ServiceError> {
        let t = visitor.t;
        let mut rows = rows(visitor, access).await?;
        rows.sort_by_cached_key(|row: &Row| (row.is_aside, row.standing, row.email.clone()));
        let (all, counts) = (rows.len(), counts(&rows));
        rows.retain(|row| query.includes(row));
        let standing = |one: Standing| Choice::new(one.name(), one.text(t), query.standing == one.name());
        Ok(Self {
            path: path(access),
            counts,
            rows,
            all,
            search: query.q.clone(),
            standings: Standing::ALL.into_iter().map(standing).collect(),
            can_manage: access.allows(ClassAction::ManageMembers),
            can_end: access.allows(ClassAction::End),
        })
    }
}

/// Counts the members by standing, without teachers and assistants who do not take part. Omits rare standings without members.
pub(super) fn counts(rows: &[Row]) -> Vec<(Standing, usize)> {
    let is_counted = |row: &&Row, standing| !row.is_aside && row.standing == standing;
    let count = |standing| (standing, rows.iter().filter(|row| is_counted(row, standing)).count());
    let is_rare = |standing| matches!(standing, Standing::Trouble | Standing::Joined | Standing::Paused);
    Standing::ALL.map(count).into_iter().filter(|(standing, count)| *count > 0 || !is_rare(*standing)).collect()
}

/// Returns all rows of the board, unsorted.
pub(super) async fn rows(visitor: &Visitor, access: &ClassAccess) -> Result<Vec<Row>, ServiceError> {
    let (t, launcher) = (visitor.t, &visitor.launcher);
    let (members, present) = (launcher.members(access).await?, launcher.present(access).await?);
    let present: HashMap<&EmailAddress, &Attendance> = present.iter().map(|one| (&one.email, one)).collect();
    let listed = live_instances(visitor, access).await?;
    let mut by_owner: HashMap<&EmailAddress, Vec<RowWorkshop>> = HashMap::new();
    for listed in &listed {
        by_owner.entry(&listed.instance.owner_email).or_default().push(RowWorkshop::new(t, listed));
    }
    let row = |email: &EmailAddress, name: String, role: Option<ClassRole>, workshops: Vec<RowWorkshop>| {
        let present = present.get(email);
        let absent = if present.is_some() { Standing::Joined } else { Standing::Absent };
        let left = present.and_then(|present| present.last_end).filter(|_| workshops.is_empty());
        let role_text = match role {
            Some(ClassRole::Student) => None,
            Some(role) => Some(t.named("role-{}", role.as_str())),
            None => Some(t.text("role-none")),
        };
        Row {
            email: email.to_string(),
            name,
            role: role_text,
            is_member: role.is_some(),
            standing: Standing::of(&workshops, absent),
            left: left.map(|left| Instant::new(t, left)),
            is_aside: role.is_some_and(|role| role != ClassRole::Student) && workshops.is_empty(),
            workshops,
        }
    };
    let mut rows = Vec::with_capacity(members.len());
    for Member { email, name, role, .. } in &members {
        let workshops = by_owner.remove(email).unwrap_or_default();
        rows.push(row(email, name.clone(), Some(*role), workshops));
    }
    // Workshops of former members, which are ending, and of admins.
    rows.extend(by_owner.into_iter().map(|(email, workshops)| row(email, String::new(), None, workshops)));
    Ok(rows)
}

/// Returns all instances of a class that are not terminated.
pub(super) async fn live_instances(
    visitor: &Visitor,
    access: &ClassAccess,
) -> Result<Vec<ListedInstance>, ServiceError> {
    let (mut listed, mut page) = (Vec::new(), Page { limit: ROWS, after: None });
    let filter = InstanceFilter { state: StateFilter::Live, ..InstanceFilter::default() };
    loop {
        let batch = visitor.launcher.class_instances(access, &filter, &page).await?;
        let Some(last) = batch.last() else { return Ok(listed) };
        page.after = Some(last.instance.instance_id);
        let is_full = batch.len() >= ROWS as usize;
        listed.extend(batch);
        if !is_full {
            return Ok(listed);
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendForm {
    /// The expiry that the page showed. Because of this value, a double click extends the instance only once.
    expected_expires_at: Option<Timestamp>,
}

pub(crate) async fn extend(
    visitor: InClass<ExtendInClass, Visitor>,
    InstanceName(name): InstanceName,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let access = &visitor.access;
    let extended = visitor.launcher.extend_in_class(access, &name, form.expected_expires_at, Bound::Maximum).await;
    answer(&visitor, access, extended).await
}

pub(crate) async fn confirm_end(visitor: InClass<EndInClass, Visitor>, InstanceName(name): InstanceName) -> PageResult {
    let (t, room) = (visitor.t, path(&visitor.access));
    let mut listed = live_instances(&visitor, &visitor.access).await?;
    listed.retain(|listed| listed.instance.k8s_name == name);
    // The workshop may have ended since the board was shown.
    let files = files_if_ended(&visitor, &listed);
    if files.is_empty() {
        return Ok(forms::redirect(&room));
    }
    let ask = Question {
        title: t.text("end"),
        question: t.with_one("end-of-member-question", "name", name.as_str()),
        warning: t.with_one("end-warning", "files", files.join(" ")).into(),
        action: format!("{room}/instances/{name}/end"),
        button: t.text("end"),
        button_class: "button-danger",
        cancel: t.text("cancel"),
        return_to: room,
        ..Question::default()
    };
    confirm(&visitor, "classes", ask)
}

pub(crate) async fn end(
    visitor: InClass<EndInClass, Visitor>,
    InstanceName(name): InstanceName,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    let ended = visitor.launcher.end_in_class(&visitor.access, &name).await;
    answer(&visitor, &visitor.access, ended).await
}

/// Returns to the room after an action, with a notice if it failed.
async fn answer<T>(visitor: &Visitor, access: &ClassAccess, outcome: Result<T, ServiceError>) -> PageResult {
    match outcome {
        Ok(_) => Ok(forms::redirect(&path(access))),
        Err(error) => notify(visitor, access, error).await,
    }
}
