//! `/classes`: the classes of the reader. The modules below are the pages of one class.

pub(crate) mod all;
pub(crate) mod attendance;
pub(crate) mod board;
pub(crate) mod edit;
pub(crate) mod file;
pub(crate) mod guide;
pub(crate) mod hands;
pub(crate) mod join;
pub(crate) mod members;
pub(crate) mod projector;
pub(crate) mod room;
pub(crate) mod roster;

use askama::Template;
use http::StatusCode;
use launcher_domain::{Class, ClassAccess, ClassClosure, EmailAddress};
use launcher_service::{NewClass, Page, ServiceError};
use serde::Deserialize;
use serde_json::json;

use crate::pages::roster::Roster;
use crate::pages::{Fields, Language, PageResult, Shell, Text, Visitor, assets, forms, page_with};
use crate::permission::{Allowed, CreateClasses, allows};

/// Maximum number of classes in the list, and of templates and instances that one query reads.
const ROWS: u32 = 500;

#[derive(Debug)]
struct ClassLink {
    name: String,
    path: String,
    role: Option<Text>,
    /// Why students cannot launch now, if they cannot.
    closure: Option<Text>,
}

impl ClassLink {
    fn new(visitor: &Visitor, access: &ClassAccess) -> Self {
        let (t, content) = (visitor.t, &access.class().content);
        let closure = content.closure(visitor.launcher.clock().now()).map(|closure| {
            t.text(match closure {
                ClassClosure::NotBegun => "class-state-not-begun",
                ClassClosure::Over => "class-state-over",
            })
        });
        let role = access.role().map(|role| t.named("role-{}", role.as_str()));
        Self { name: content.name.clone(), path: path(access), role, closure }
    }
}

pub(crate) fn path(access: &ClassAccess) -> String {
    path_of(access.class())
}

pub(crate) fn path_of(class: &Class) -> String {
    format!("/classes/{}", class.content.slug)
}

#[derive(Debug, Template)]
#[template(path = "classes.html")]
struct ClassesPage {
    t: Language,
    shell: Shell,
    classes: Vec<ClassLink>,
    can_create: bool,
    forms: ClassesForms,
}

/// The forms of the list, with the errors of the one that was sent.
#[derive(Debug, Default)]
struct ClassesForms {
    new: NewClassForm,
    errors: Vec<String>,
    import_errors: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewClassForm {
    name: String,
    teachers: String,
}

/// `GET /classes`: the classes of the reader; for an admin all classes.
pub(crate) async fn list(visitor: Visitor) -> PageResult {
    render_list(&visitor, StatusCode::OK, ClassesForms::default()).await
}

async fn render_list(visitor: &Visitor, status: StatusCode, forms: ClassesForms) -> PageResult {
    let (t, can_create) = (visitor.t, allows::<CreateClasses>(&visitor.caller));
    let classes = visitor.launcher.classes(&visitor.caller, &Page { limit: ROWS, after: None }).await?;
    let classes = classes.iter().map(|access| ClassLink::new(visitor, access)).collect();
    let shell = visitor.shell("classes");
    let shell = if status == StatusCode::OK { shell } else { shell.returning_to("/classes") };
    page_with(status, &ClassesPage { t, shell, classes, can_create, forms })
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
    let forms = ClassesForms { new: form, errors, ..ClassesForms::default() };
    render_list(&visitor, StatusCode::UNPROCESSABLE_ENTITY, forms).await
}

/// Reads pasted addresses. Returns them, or the errors.
fn addresses(t: Language, text: &str) -> (Vec<EmailAddress>, Vec<String>) {
    match Roster::parse(text) {
        Ok(Roster { people, unreadable }) => {
            let errors = unreadable.iter().map(|entry| t.unreadable(entry)).collect();
            (people.into_iter().map(|person| person.email).collect(), errors)
        }
        Err(error) => (Vec::new(), vec![t.roster_error(&error)]),
    }
}

fn encoded(email: &EmailAddress) -> String {
    form_urlencoded::byte_serialize(email.as_str().as_bytes()).collect()
}
