//! Members of a class: adding the people of a pasted list, and removing one.

use http::StatusCode;
use launcher_domain::{ClassRole, EmailAddress};
use launcher_service::{MemberDraft, ServiceError};
use serde::Deserialize;

use crate::extract::MemberEmail;
use crate::pages::admin::roster::{MAX_ENTRIES, Roster, TooManyEntries};
use crate::pages::classes::room::{Room, render};
use crate::pages::classes::{encoded, path};
use crate::pages::confirm::{Question, confirm};
use crate::pages::{Fields, Language, PageResult, ReturnForm, Visitor, forms};
use crate::permission::{InClass, ManageMembers};

/// Reads pasted addresses. Returns them, or the errors.
pub(crate) fn addresses(t: Language, text: &str) -> (Vec<EmailAddress>, Vec<String>) {
    match Roster::parse(text) {
        Ok(Roster { people, unreadable }) => {
            let errors = unreadable.iter().map(|entry| t.with_one("classes-unreadable", "entry", entry.as_str()));
            (people, errors.collect())
        }
        Err(TooManyEntries) => (Vec::new(), vec![t.with_one("class-too-many", "most", MAX_ENTRIES)]),
    }
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
    let room = Room { addresses: form.addresses, errors, ..Room::default() };
    render(&visitor, &visitor.access, StatusCode::UNPROCESSABLE_ENTITY, room).await
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
            let room = Room { errors, ..Room::default() };
            render(&visitor, &visitor.access, StatusCode::UNPROCESSABLE_ENTITY, room).await
        }
        Err(error) => Err(error.into()),
    }
}
