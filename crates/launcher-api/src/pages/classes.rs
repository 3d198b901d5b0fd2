//! `/classes`: the classes of the reader, and the room of one class: its templates, and for those who may watch its members
//! with their workshops. The list of members updates every 5 seconds.

use std::collections::HashMap;

use askama::Template;
use http::StatusCode;
use jiff::Timestamp;
use launcher_domain::lifetime::Bound;
use launcher_domain::{ClassAccess, ClassAction, ClassRole, EmailAddress, InstanceState, Member};
use launcher_service::{InstanceFilter, ListedInstance, MemberDraft, NewClass, Page, ServiceError, StateFilter};
use serde::Deserialize;
use serde_json::json;

use crate::extract::{InstanceName, MemberEmail};
use crate::pages::admin::roster::{MAX_ENTRIES, Roster, TooManyEntries};
use crate::pages::confirm::{Question, confirm};
use crate::pages::view::{Card, Instant, Notice};
use crate::pages::{
    Fields, Language, PageResult, ReturnForm, Shell, Text, Visitor, assets, forms, markdown, notices, page_with,
    workshops,
};
use crate::permission::{Allowed, CreateClasses, EndInClass, ExtendInClass, InClass, ManageMembers, ReadClass, allows};

/// Maximum number of rows on one page, and of classes in the list.
const ROWS: u32 = 500;

/// A class in the list.
#[derive(Debug)]
struct ClassLink {
    name: String,
    path: String,
    role: Option<Text>,
    archived: bool,
}

impl ClassLink {
    fn new(t: Language, access: &ClassAccess) -> Self {
        let content = &access.class().content;
        let role = access.role().map(|role| t.text(&format!("role-{}", role.as_str())));
        Self { name: content.name.clone(), path: path(access), role, archived: content.archived }
    }
}

pub(crate) fn path(access: &ClassAccess) -> String {
    format!("/classes/{}", access.class().content.slug)
}

#[derive(Debug, Template)]
#[template(path = "classes.html")]
struct ClassesPage {
    t: Language,
    shell: Shell,
    classes: Vec<ClassLink>,
    can_create: bool,
    notice: Option<Notice>,
    form: NewClassForm,
    errors: Vec<String>,
}

/// The form of a new class.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewClassForm {
    name: String,
    teachers: String,
}

/// `GET /classes`: the classes of the reader; for an admin all classes.
pub(crate) async fn list(visitor: Visitor) -> PageResult {
    render_list(&visitor, StatusCode::OK, NewClassForm::default(), Vec::new()).await
}

async fn render_list(visitor: &Visitor, status: StatusCode, form: NewClassForm, errors: Vec<String>) -> PageResult {
    let (t, can_create) = (visitor.t, allows::<CreateClasses>(&visitor.caller));
    let classes = visitor.launcher.classes(&visitor.caller, &Page { limit: ROWS, after: None }).await?;
    let classes = classes.iter().map(|access| ClassLink::new(t, access)).collect();
    let shell = visitor.shell("classes");
    let shell = if errors.is_empty() { shell } else { shell.returning_to("/classes") };
    page_with(status, &ClassesPage { t, shell, classes, can_create, notice: None, form, errors })
}

/// `POST /classes`: creates a class with these teachers.
pub(crate) async fn create(visitor: Allowed<CreateClasses, Visitor>, Fields(form): Fields<NewClassForm>) -> PageResult {
    let t = visitor.t;
    let (teachers, mut errors) = addresses(t, &form.teachers);
    let body = json!({ "name": form.name }).as_object().cloned().unwrap_or_default();
    if errors.is_empty() {
        match visitor.launcher.create_class(&visitor.caller, &NewClass { body, teachers }).await {
            Ok(access) => return Ok(forms::redirect(&path(&access))),
            Err(ServiceError::Invalid(wrong)) => errors.extend(wrong.iter().map(|error| t.field_error(error))),
            Err(error) => return Err(error.into()),
        }
    }
    render_list(&visitor, StatusCode::UNPROCESSABLE_ENTITY, form, errors).await
}

/// Encodes an address for a path.
fn encoded(email: &EmailAddress) -> String {
    form_urlencoded::byte_serialize(email.as_str().as_bytes()).collect()
}

/// Reads pasted addresses. Returns them, or the errors.
fn addresses(t: Language, text: &str) -> (Vec<EmailAddress>, Vec<String>) {
    match Roster::parse(text) {
        Ok(Roster { people, unreadable }) => {
            let errors = unreadable.iter().map(|entry| t.with_one("classes-unreadable", "entry", entry.as_str()));
            (people, errors.collect())
        }
        Err(TooManyEntries) => (Vec::new(), vec![t.with_one("class-too-many", "most", MAX_ENTRIES)]),
    }
}

#[derive(Debug, Template)]
#[template(path = "class.html")]
struct ClassPage {
    t: Language,
    shell: Shell,
    class: ClassLink,
    description: String,
    cards: Vec<Card>,
    /// True if the reader may edit the templates.
    can_edit: bool,
    board: Option<Board>,
    notice: Option<Notice>,
    /// The pasted list of new members, if it has errors.
    addresses: String,
    errors: Vec<String>,
}

/// The members of a class with their workshops.
#[derive(Debug)]
struct Board {
    path: String,
    rows: Vec<Row>,
    /// Text of a member without a workshop.
    absent: Text,
    counts: Vec<(Standing, Text, usize)>,
    can_manage: bool,
    can_end: bool,
}

/// A member of a class.
#[derive(Debug)]
struct Row {
    email: String,
    name: String,
    role: Text,
    standing: Standing,
    /// True for a teacher or an assistant without a workshop, who does not take part.
    is_aside: bool,
    workshops: Vec<RowWorkshop>,
}

impl Row {
    fn new(email: &EmailAddress, name: String, role: Text, is_aside: bool, workshops: Vec<RowWorkshop>) -> Self {
        Self { email: email.to_string(), name, role, standing: Standing::of(&workshops), is_aside, workshops }
    }
}

/// A workshop of a member, as a teacher sees it.
#[derive(Debug)]
struct RowWorkshop {
    k8s_name: String,
    template: String,
    state: InstanceState,
    state_text: String,
    failure: Option<String>,
    trouble: Option<Text>,
    ends: Option<Instant>,
    expected_expires_at: String,
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

    fn is_running(&self) -> bool {
        self.state == InstanceState::Running
    }

    fn can_end(&self) -> bool {
        !matches!(self.state, InstanceState::Terminating | InstanceState::Terminated)
    }
}

/// Standing of a member. The board shows earlier variants first: they need help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
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
    fn class(self) -> &'static str {
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
    async fn new(visitor: &Visitor, access: &ClassAccess) -> Result<Self, ServiceError> {
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

/// `GET /classes/{class}`: the room of a class.
pub(crate) async fn show(visitor: InClass<ReadClass, Visitor>) -> PageResult {
    render(&visitor, &visitor.access, StatusCode::OK, None, AddMembers::default(), Vec::new()).await
}

async fn render(
    visitor: &Visitor,
    access: &ClassAccess,
    status: StatusCode,
    notice: Option<Notice>,
    form: AddMembers,
    errors: Vec<String>,
) -> PageResult {
    let t = visitor.t;
    let templates = visitor.launcher.templates(access, &Page { limit: ROWS, after: None }).await?;
    let own = workshops::own_live(visitor).await?;
    let board = if access.allows(ClassAction::Watch) { Some(Board::new(visitor, access).await?) } else { None };
    let shell = visitor.shell("classes");
    let answers = notice.is_some() || !errors.is_empty();
    let room = ClassPage {
        t,
        shell: if answers { shell.returning_to(path(access)) } else { shell },
        class: ClassLink::new(t, access),
        description: markdown::to_html(&access.class().content.description),
        cards: templates.iter().map(|template| Card::new(visitor, template).beside(&own)).collect(),
        can_edit: access.allows(ClassAction::ManageTemplates),
        board,
        notice,
        addresses: form.addresses,
        errors,
    };
    page_with(status, &room)
}

/// The form that adds members.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AddMembers {
    addresses: String,
    role: String,
}

/// `POST /classes/{class}/members`: adds the people of a pasted list, or gives them another role. Removes no member.
pub(crate) async fn add_members(
    visitor: InClass<ManageMembers, Visitor>,
    Fields(form): Fields<AddMembers>,
) -> PageResult {
    let t = visitor.t;
    let (people, mut errors) = addresses(t, &form.addresses);
    let role = ClassRole::parse(&form.role).unwrap_or(ClassRole::Student);
    if errors.is_empty() {
        let draft = |email| MemberDraft { email, role, name: String::new() };
        match visitor.launcher.set_members(&visitor.access, people.into_iter().map(draft).collect()).await {
            Ok(_) => return Ok(forms::redirect(&path(&visitor.access))),
            Err(ServiceError::Invalid(wrong)) => errors.extend(wrong.iter().map(|error| t.field_error(error))),
            Err(error) => return Err(error.into()),
        }
    }
    render(&visitor, &visitor.access, StatusCode::UNPROCESSABLE_ENTITY, None, form, errors).await
}

/// `GET /classes/{class}/members/{email}/remove`: asks before the removal of a member.
pub(crate) async fn confirm_removal(
    visitor: InClass<ManageMembers, Visitor>,
    MemberEmail(email): MemberEmail,
) -> PageResult {
    let (t, room) = (visitor.t, path(&visitor.access));
    let ask = Question {
        title: t.text("remove-member"),
        question: t.with_one("remove-member-question", "email", email.as_str()),
        warning: t.text("remove-member-warning"),
        owner: None,
        action: format!("{room}/members/{}/remove", encoded(&email)),
        fields: Vec::new(),
        button: t.text("remove-member"),
        button_class: "button-danger",
        cancel: t.text("cancel"),
        return_to: room,
    };
    confirm(&visitor, "classes", ask)
}

/// `POST /classes/{class}/members/{email}/remove`: removes a member, and ends the member's workshops in the class.
pub(crate) async fn remove_member(
    visitor: InClass<ManageMembers, Visitor>,
    MemberEmail(email): MemberEmail,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    match visitor.launcher.remove_member(&visitor.access, &email).await {
        // A teacher who has left the class does not find its page any more.
        Ok(()) if email == *visitor.caller.email() => Ok(forms::redirect("/classes")),
        Ok(()) => Ok(forms::redirect(&path(&visitor.access))),
        Err(ServiceError::Invalid(wrong)) => {
            let errors = wrong.iter().map(|error| visitor.t.field_error(error)).collect();
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            render(&visitor, &visitor.access, status, None, AddMembers::default(), errors).await
        }
        Err(error) => Err(error.into()),
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
    render(visitor, access, status, Some(notice), AddMembers::default(), Vec::new()).await
}
