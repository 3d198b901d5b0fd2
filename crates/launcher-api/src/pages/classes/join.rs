//! Join links: the panel for teachers, and the pages on which a person joins a class.

use askama::Template;
use http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;
use launcher_domain::join::{VALID_DAYS, read_join_code, shown_join_code};
use launcher_domain::{ClassAccess, ClassAction, JoinLink};
use launcher_service::ServiceError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::extract::JoinCode;
use crate::pages::classes::room::{Form, Room, render};
use crate::pages::classes::{path, path_of};
use crate::pages::share::Code;
use crate::pages::view::Instant;
use crate::pages::{
    Fields, Language, PageResult, Query, ReturnForm, Shell, Text, Visitor, assets, forms, markdown, page_with,
};
use crate::permission::{InClass, ManageMembers};
use crate::problem::{Problem, ProblemCode};
use crate::routes::join::join_url;

/// Validities of a new link that a teacher can choose, in days.
const CHOICES: [u32; 4] = [1, 7, VALID_DAYS, 30];

#[derive(Debug)]
pub(crate) struct LinkPanel {
    pub(super) current: Option<CurrentLink>,
    /// Days, label, and whether the choice is the default.
    pub(super) validities: Vec<(u32, String, bool)>,
}

#[derive(Debug)]
pub(crate) struct CurrentLink {
    pub(super) url: String,
    /// Address without the scheme, at which a person can type the code.
    pub(super) address: String,
    pub(super) code: String,
    pub(super) qr: Option<Code>,
    pub(super) ends: Instant,
    pub(super) joined: String,
    pub(super) is_open: bool,
}

impl CurrentLink {
    pub(super) fn new(visitor: &Visitor, link: &JoinLink) -> Self {
        let (t, now) = (visitor.t, visitor.launcher.clock().now());
        let joined = match link.rules.seats {
            None => t.with_one("join-link-joined", "people", link.joined),
            Some(seats) => t.with("join-link-joined-of", [("people", link.joined.into()), ("seats", seats.into())]),
        };
        Self { joined, is_open: link.is_open(now), ..Self::open(visitor, &link.code, link.expires_at) }
    }

    /// Returns a link for the guide. It joins no class.
    pub(super) fn example(visitor: &Visitor) -> Self {
        Self::open(visitor, "abcde23456", visitor.launcher.clock().now())
    }

    fn open(visitor: &Visitor, code: &str, ends: Timestamp) -> Self {
        let url = join_url(visitor.settings.origin(), code);
        Self {
            address: format!("{}/join", visitor.settings.public_host()),
            code: shown_join_code(code),
            qr: Code::new(&url),
            ends: Instant::new(visitor.t, ends),
            joined: String::new(),
            is_open: true,
            url,
        }
    }
}

impl LinkPanel {
    /// Returns the panel for a reader who may create links.
    pub(crate) async fn new(visitor: &Visitor, access: &ClassAccess) -> Result<Option<Self>, ServiceError> {
        if !access.allows(ClassAction::ManageMembers) {
            return Ok(None);
        }
        let link = visitor.launcher.join_link(access).await?;
        let label = |days| (days, visitor.t.with_one("join-link-days", "days", days), days == VALID_DAYS);
        Ok(Some(Self {
            current: link.map(|link| CurrentLink::new(visitor, &link)),
            validities: CHOICES.into_iter().map(label).collect(),
        }))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewLink {
    pub(super) valid_days: u32,
    pub(super) seats: String,
    pub(super) domain: String,
    pub(super) members_only: String,
    /// Errors of the form by the pointer of the field.
    #[serde(skip)]
    errors: Vec<(String, String)>,
}

impl NewLink {
    pub(super) fn errors_of(&self, field: &str) -> impl Iterator<Item = &str> {
        let of_field = self.errors.iter().filter(move |(pointer, _)| pointer.strip_prefix('/') == Some(field));
        of_field.map(|(_, error)| error.as_str())
    }

    fn body(&self) -> Map<String, Value> {
        let seats = match self.seats.trim() {
            "" => Value::Null,
            // The rules report a text that is no number.
            text => text.parse::<u32>().map_or_else(|_| text.into(), Value::from),
        };
        let mut body = Map::new();
        body.insert("valid_seconds".to_owned(), json!(u64::from(self.valid_days) * 86400));
        body.insert("seats".to_owned(), seats);
        body.insert("domain".to_owned(), json!(self.domain.trim()));
        body.insert("members_only".to_owned(), json!(!self.members_only.is_empty()));
        body
    }
}

/// `POST /classes/{class}/join-link`: creates the link, and revokes the former one. Then shows the code.
pub(crate) async fn create(visitor: InClass<ManageMembers, Visitor>, Fields(form): Fields<NewLink>) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    match visitor.launcher.create_join_link(access, &form.body()).await {
        Ok(_) => Ok(forms::redirect(&format!("{}/projector", path(access)))),
        Err(ServiceError::Invalid(wrong)) => {
            let errors = wrong.iter().map(|error| (error.pointer.clone(), t.field_error(error))).collect();
            let room = Room { open: Some(Form::Link), link: NewLink { errors, ..form }, ..Room::default() };
            render(&visitor, access, StatusCode::UNPROCESSABLE_ENTITY, room).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn revoke(visitor: InClass<ManageMembers, Visitor>, Fields(_): Fields<ReturnForm>) -> PageResult {
    visitor.launcher.revoke_join_link(&visitor.access).await?;
    Ok(forms::redirect(&path(&visitor.access)))
}

#[derive(Debug, Template)]
#[template(path = "join.html")]
struct JoinPage {
    t: Language,
    shell: Shell,
    /// The class of the code. `None`: the page asks for a code.
    class: Option<InvitedClass>,
    typed: String,
    error: Option<Text>,
}

#[derive(Debug)]
struct InvitedClass {
    name: String,
    description: String,
    code: String,
    refusal: Option<String>,
}

/// Query of the page that asks for a code.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CodeQuery {
    code: String,
}

/// `GET /join`: asks for the code, and leads to its class.
pub(crate) async fn ask(visitor: Visitor, Query(query): Query<CodeQuery>) -> PageResult {
    match read_join_code(&query.code) {
        Some(code) => Ok(forms::redirect(&format!("/join/{}", shown_join_code(&code)))),
        None if query.code.trim().is_empty() => ask_again(&visitor, StatusCode::OK, String::new(), None),
        None => unknown(&visitor, query.code),
    }
}

fn unknown(visitor: &Visitor, typed: String) -> PageResult {
    let error = Some(visitor.t.text("join-unknown"));
    ask_again(visitor, StatusCode::NOT_FOUND, typed, error)
}

fn ask_again(visitor: &Visitor, status: StatusCode, typed: String, error: Option<Text>) -> PageResult {
    let shell = visitor.shell("classes");
    let shell = if error.is_some() { shell.returning_to("/join") } else { shell };
    page_with(status, &JoinPage { t: visitor.t, shell, class: None, typed, error })
}

/// `GET /join/{code}`: the class of the code, with a button to join it. A member gets the page of the class.
pub(crate) async fn show(visitor: Visitor, JoinCode(code): JoinCode) -> PageResult {
    let invitation = match visitor.launcher.invitation(&visitor.caller, &code).await {
        Err(error) => return refuse(&visitor, code, error).await,
        Ok(invitation) => invitation,
    };
    if invitation.is_member() {
        return Ok(forms::redirect(&path_of(&invitation.class)));
    }
    let now = visitor.launcher.clock().now();
    let refusal = invitation.refusal(visitor.caller.email(), now);
    let status = if refusal.is_some() { StatusCode::FORBIDDEN } else { StatusCode::OK };
    let content = invitation.class.content;
    let class = InvitedClass {
        name: content.name,
        description: if refusal.is_some() { String::new() } else { markdown::to_html(&content.description) },
        code: shown_join_code(&invitation.link.code),
        refusal: refusal.map(|refusal| visitor.t.coded(&refusal.key())),
    };
    let shell = visitor.shell("classes");
    page_with(status, &JoinPage { t: visitor.t, shell, class: Some(class), typed: String::new(), error: None })
}

/// `POST /join/{code}`: joins the class, then shows its page.
pub(crate) async fn join(visitor: Visitor, JoinCode(code): JoinCode, Fields(_): Fields<ReturnForm>) -> PageResult {
    match visitor.launcher.join(&visitor.caller, &code).await {
        Ok(access) => Ok(forms::redirect(&path(&access))),
        // The page of the code explains the refusal.
        Err(ServiceError::JoinRefused(_)) => {
            let code = read_join_code(&code).unwrap_or_default();
            Ok(forms::redirect(&format!("/join/{}", shown_join_code(&code))))
        }
        Err(error) => refuse(&visitor, code, error).await,
    }
}

async fn refuse(visitor: &Visitor, typed: String, error: ServiceError) -> PageResult {
    match error {
        ServiceError::UnknownJoinCode => unknown(visitor, typed),
        ServiceError::TooManyJoinCodes { retry_after } => {
            let status = ProblemCode::TooManyJoinCodes.status();
            let minutes = retry_after.div_ceil(60);
            let text = visitor.t.with_one("join-too-many", "minutes", minutes);
            let mut response = ask_again(visitor, status, String::new(), Some(text.into()))?;
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
            Ok(response)
        }
        error => Err(Problem::from(error)),
    }
}
