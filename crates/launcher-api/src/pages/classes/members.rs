//! One member of a class: its name and role, and its removal.

use askama::Template;
use http::StatusCode;
use launcher_domain::{ClassRole, EmailAddress, Member};
use launcher_service::{MemberDraft, ServiceError};
use serde::Deserialize;

use crate::extract::MemberEmail;
use crate::pages::classes::board::live_instances;
use crate::pages::classes::room::{Room, refuse};
use crate::pages::classes::{encoded, path};
use crate::pages::confirm::{Question, confirm, files_if_ended};
use crate::pages::view::Choice;
use crate::pages::{Fields, Language, PageResult, ReturnForm, Shell, Visitor, assets, forms, page_with};
use crate::permission::{InClass, ManageMembers};
use crate::problem::Problem;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MemberForm {
    name: String,
    role: String,
}

#[derive(Debug, Template)]
#[template(path = "class_member.html")]
struct MemberPage {
    t: Language,
    shell: Shell,
    path: String,
    email: EmailAddress,
    name: String,
    roles: Vec<Choice>,
    errors: Vec<String>,
}

type ManagerOf = InClass<ManageMembers, Visitor>;

async fn member(visitor: &ManagerOf, email: &EmailAddress) -> Result<Member, Problem> {
    let members = visitor.launcher.members(&visitor.access).await?;
    members.into_iter().find(|member| member.email == *email).ok_or_else(Problem::not_found)
}

fn member_page(visitor: &ManagerOf, member: Member, errors: Vec<String>) -> PageResult {
    let (t, shell, path) = (visitor.t, visitor.shell("classes"), path(&visitor.access));
    let (status, shell) = match errors.is_empty() {
        true => (StatusCode::OK, shell),
        false => (StatusCode::UNPROCESSABLE_ENTITY, shell.returning_to(path.clone())),
    };
    let role = |role: ClassRole| Choice::new(role.as_str(), t.named("role-{}", role.as_str()), role == member.role);
    let roles = ClassRole::ALL.map(role).into();
    page_with(status, &MemberPage { t, shell, path, email: member.email, name: member.name, roles, errors })
}

/// `GET /classes/{class}/members/{email}/edit`: name and role of a member.
pub(crate) async fn show_edit(visitor: ManagerOf, MemberEmail(email): MemberEmail) -> PageResult {
    let member = member(&visitor, &email).await?;
    member_page(&visitor, member, Vec::new())
}

pub(crate) async fn edit(
    visitor: ManagerOf,
    MemberEmail(email): MemberEmail,
    Fields(form): Fields<MemberForm>,
) -> PageResult {
    let member = member(&visitor, &email).await?;
    let role = ClassRole::parse(&form.role).unwrap_or(member.role);
    let name = form.name.trim().to_owned();
    let draft = MemberDraft { email, role, name: name.clone() };
    match visitor.launcher.set_members(&visitor.access, vec![draft]).await {
        Ok(_) => Ok(forms::redirect(&path(&visitor.access))),
        Err(ServiceError::Invalid(wrong)) => {
            let errors = wrong.iter().map(|error| visitor.t.field_error(error)).collect();
            member_page(&visitor, Member { name, role, ..member }, errors)
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn confirm_removal(visitor: ManagerOf, MemberEmail(email): MemberEmail) -> PageResult {
    let (t, room) = (visitor.t, path(&visitor.access));
    let mut listed = live_instances(&visitor, &visitor.access).await?;
    listed.retain(|listed| listed.instance.owner_email == email);
    let warning = [vec![t.text("remove-member-warning").into_owned()], files_if_ended(&visitor, &listed)].concat();
    let ask = Question {
        title: t.text("remove-member"),
        question: t.with_one("remove-member-question", "email", email.as_str()),
        warning: warning.join(" ").into(),
        action: format!("{room}/members/{}/remove", encoded(&email)),
        button: t.text("remove-member"),
        button_class: "button-danger",
        cancel: t.text("cancel"),
        return_to: room,
        ..Question::default()
    };
    confirm(&visitor, "classes", ask)
}

/// `POST /classes/{class}/members/{email}/remove`: removes a member, and ends the member's workshops in the class.
pub(crate) async fn remove_member(
    visitor: ManagerOf,
    MemberEmail(email): MemberEmail,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    match visitor.launcher.remove_member(&visitor.access, &email).await {
        // A teacher who has left the class does not find its page any more.
        Ok(()) if email == *visitor.caller.email() => Ok(forms::redirect("/classes")),
        Ok(()) => Ok(forms::redirect(&path(&visitor.access))),
        Err(error) => refuse(&visitor, &visitor.access, error, Room::default()).await,
    }
}
