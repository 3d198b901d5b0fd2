//! The board of a class: its members with their workshops, for those who may watch. It updates every 5 seconds.

use std::collections::HashMap;

use jiff::Timestamp;
use launcher_domain::lifetime::Bound;
use launcher_domain::{ClassAccess, ClassAction, ClassRole, EmailAddress, InstanceState, Member};
use launcher_service::{InstanceFilter, ListedInstance, Page, ServiceError, StateFilter};
use serde::Deserialize;

use crate::extract::InstanceName;
use crate::pages::classes::room::{Room, render};
use crate::pages::classes::{ROWS, path};
use crate::pages::confirm::{Question, confirm};
use crate::pages::view::Instant;
use crate::pages::{Fields, Language, PageResult, ReturnForm, Text, Visitor, forms, notices};
use crate::permission::{EndInClass, ExtendInClass, InClass};

/// The members of a class with their workshops.
#[derive(Debug)]
pub(crate) struct Board {
    pub(super) path: String,
    pub(super) rows: Vec<Row>,
    /// Text of a member without a workshop.
    pub(super) absent: Text,
    pub(super) counts: Vec<(Standing, Text, usize)>,
    pub(super) can_manage: bool,
    pub(super) can_end: bool,
}

/// A member of a class.
#[derive(Debug)]
pub(crate) struct Row {
    pub(super) email: String,
    pub(super) name: String,
    pub(super) role: Text,
    pub(super) standing: Standing,
    /// True for a teacher or an assistant without a workshop, who does not take part.
    pub(super) is_aside: bool,
    pub(super) workshops: Vec<RowWorkshop>,
}

impl Row {
    fn new(email: &EmailAddress, name: String, role: Text, is_aside: bool, workshops: Vec<RowWorkshop>) -> Self {
        Self { email: email.to_string(), name, role, standing: Standing::of(&workshops), is_aside, workshops }
    }
}

/// A workshop of a member, as a teacher sees it.
#[derive(Debug)]
pub(crate) struct RowWorkshop {
    pub(super) k8s_name: String,
    pub(super) template: String,
    pub(super) state: InstanceState,
    pub(super) state_text: String,
    pub(super) failure: Option<String>,
    pub(super) trouble: Option<Text>,
    pub(super) ends: Option<Instant>,
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
            trouble: instance.material_trouble().map(|trouble| t.material_trouble(trouble)),
            ends: ends.map(|end| Instant::new(t, end)),
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
    Starting,
    Paused,
    Ready,
}

impl Standing {
    const ALL: [Self; 6] = [Self::Failed, Self::Trouble, Self::Absent, Self::Starting, Self::Paused, Self::Ready];

    fn of(workshops: &[RowWorkshop]) -> Self {
        let standing = |workshop: &RowWorkshop| match workshop.state {
            InstanceState::Failed => Self::Failed,
            _ if workshop.trouble.is_some() => Self::Trouble,
            InstanceState::Queued | InstanceState::Starting => Self::Starting,
            InstanceState::Suspending | InstanceState::Suspended => Self::Paused,
            InstanceState::Running => Self::Ready,
            InstanceState::Terminating | InstanceState::Terminated => Self::Absent,
        };
        workshops.iter().map(standing).min().unwrap_or(Self::Absent)
    }

    fn text(self, t: Language) -> Text {
        t.text(match self {
            Self::Failed => "standing-failed",
            Self::Trouble => "standing-trouble",
            Self::Absent => "standing-absent",
            Self::Starting => "standing-starting",
            Self::Paused => "standing-paused",
            Self::Ready => "standing-ready",
        })
    }

    /// CSS class with the colour of the standing.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Failed => "state-failed",
            Self::Trouble | Self::Starting => "state-starting",
            Self::Absent => "",
            Self::Paused => "state-suspended",
            Self::Ready => "state-running",
        }
    }
}

impl Board {
    pub(crate) async fn new(visitor: &Visitor, access: &ClassAccess) -> Result<Self, ServiceError> {
        let t = visitor.t;
        let members = visitor.launcher.members(access).await?;
        let mut listed = Vec::new();
        let mut page = Page { limit: ROWS, after: None };
        let filter = InstanceFilter { state: StateFilter::Live, ..InstanceFilter::default() };
        loop {
            let batch = visitor.launcher.class_instances(access, &filter, &page).await?;
            let Some(last) = batch.last() else { break };
            page.after = Some(last.instance.instance_id);
            listed.extend(batch);
        }
        let mut by_owner: HashMap<&EmailAddress, Vec<RowWorkshop>> = HashMap::new();
        for listed in &listed {
            by_owner.entry(&listed.instance.owner_email).or_default().push(RowWorkshop::new(t, listed));
        }
        let mut rows = Vec::with_capacity(members.len());
        for Member { email, name, role, .. } in &members {
            let workshops = by_owner.remove(email).unwrap_or_default();
            let is_aside = *role != ClassRole::Student && workshops.is_empty();
            rows.push(Row::new(email, name.clone(), t.text(&format!("role-{}", role.as_str())), is_aside, workshops));
        }
        // Workshops of former members, which are ending, and of admins.
        let others = by_owner.into_iter();
        rows.extend(
            others.map(|(email, workshops)| Row::new(email, String::new(), t.text("role-none"), false, workshops)),
        );
        rows.sort_by_key(|row: &Row| (row.is_aside, row.standing, row.email.clone()));
        let count = |standing: Standing| rows.iter().filter(|row| !row.is_aside && row.standing == standing).count();
        let counts = Standing::ALL.into_iter().map(|standing| (standing, standing.text(t), count(standing))).collect();
        Ok(Self {
            path: path(access),
            absent: Standing::Absent.text(t),
            counts,
            rows,
            can_manage: access.allows(ClassAction::ManageMembers),
            can_end: access.allows(ClassAction::End),
        })
    }
}

/// The form of the button "Extend".
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendForm {
    /// The expiry that the page showed. Because of this value, a double click extends the instance only once.
    expected_expires_at: Option<Timestamp>,
}

/// `POST /classes/{class}/instances/{k8s_name}/extend`: extends a workshop of a member.
pub(crate) async fn extend(
    visitor: InClass<ExtendInClass, Visitor>,
    InstanceName(name): InstanceName,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let access = &visitor.access;
    let extended = visitor.launcher.extend_in_class(access, &name, form.expected_expires_at, Bound::Maximum).await;
    answer(&visitor, access, extended.map(|_| ())).await
}

/// `GET /classes/{class}/instances/{k8s_name}/end`: asks before the end of a workshop of a member.
pub(crate) async fn confirm_end(visitor: InClass<EndInClass, Visitor>, InstanceName(name): InstanceName) -> PageResult {
    let (t, room) = (visitor.t, path(&visitor.access));
    let ask = Question {
        title: t.text("end"),
        question: t.with_one("end-of-member-question", "name", name.as_str()),
        warning: t.text("end-of-member-warning"),
        owner: None,
        action: format!("{room}/instances/{name}/end"),
        fields: Vec::new(),
        button: t.text("end"),
        button_class: "button-danger",
        cancel: t.text("cancel"),
        return_to: room,
    };
    confirm(&visitor, "classes", ask)
}

/// `POST /classes/{class}/instances/{k8s_name}/end`: ends a workshop of a member.
pub(crate) async fn end(
    visitor: InClass<EndInClass, Visitor>,
    InstanceName(name): InstanceName,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    let ended = visitor.launcher.end_in_class(&visitor.access, &name).await;
    answer(&visitor, &visitor.access, ended.map(|_| ())).await
}

/// Returns to the room after an action, with a notice if it failed.
async fn answer(visitor: &Visitor, access: &ClassAccess, outcome: Result<(), ServiceError>) -> PageResult {
    let Err(error) = outcome else { return Ok(forms::redirect(&path(access))) };
    let Some((status, notice)) = notices::of(visitor.t, &error, true) else { return Err(error.into()) };
    render(visitor, access, status, Room { notice: Some(notice), ..Room::default() }).await
}
