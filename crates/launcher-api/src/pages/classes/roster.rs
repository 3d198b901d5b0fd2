//! The roster of a class: a pasted or uploaded list of people, the preview of its changes, and the export.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use launcher_domain::{ClassRole, EmailAddress, Member, MemberSource};
use launcher_service::MemberDraft;
use serde::{Deserialize, Serialize};

use crate::pages::classes::path;
use crate::pages::classes::room::{Form, Room, refuse, render};
use crate::pages::forms::Upload;
use crate::pages::roster::{Person, Roster, Unreadable, spreadsheet, text_of};
use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, forms, page};
use crate::permission::{InClass, ManageMembers, WatchClass};
use crate::problem::{Problem, ProblemCode};
use crate::wire::rfc3339;

/// A member as the preview shows it and its form sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    email: EmailAddress,
    name: String,
    role: ClassRole,
}

/// Effect of a list on the members of a class.
#[derive(Debug, Default)]
struct Plan {
    added: Vec<Row>,
    /// The members whose role changes, as they are and as they become.
    new_roles: Vec<(Member, Row)>,
    /// The members of whom only the name changes.
    new_names: Vec<(Member, Row)>,
    unchanged: Vec<Member>,
    /// Members of the roster only, who are not in the list. Without the reader, who would lose the class.
    missing: Vec<Member>,
}

impl Plan {
    /// Compares a list with the members. New people without a role in the list get `role`. Members keep what the list does
    /// not name, so that a list of names and addresses makes no teacher a student.
    fn new(members: Vec<Member>, people: Vec<Person>, role: ClassRole, reader: &EmailAddress) -> Self {
        let mut plan = Self::default();
        let mut left = members;
        for person in people {
            let Some(place) = left.iter().position(|member| member.email == person.email) else {
                let role = person.role.unwrap_or(role);
                plan.added.push(Row { email: person.email, name: person.name, role });
                continue;
            };
            let member = left.swap_remove(place);
            let name = if person.name.is_empty() { member.name.clone() } else { person.name };
            let row = Row { email: person.email, name, role: person.role.unwrap_or(member.role) };
            if row.role != member.role {
                plan.new_roles.push((member, row));
            } else if row.name != member.name {
                plan.new_names.push((member, row));
            } else {
                plan.unchanged.push(member);
            }
        }
        left.retain(|member| member.sources == [MemberSource::Roster] && member.email != *reader);
        left.sort_by(|one, other| one.email.cmp(&other.email));
        plan.missing = left;
        plan
    }

    /// The members that change, as they become.
    fn rows(&self) -> Vec<&Row> {
        let changed = self.new_roles.iter().chain(&self.new_names).map(|(_, row)| row);
        self.added.iter().chain(changed).collect()
    }
}

/// People of the preview with the same change.
#[derive(Debug)]
struct Group {
    title: Text,
    class: &'static str,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    email: String,
    note: String,
}

impl Entry {
    fn new(email: &EmailAddress, name: &str, note: impl Into<String>) -> Self {
        Self { name: name.to_owned(), email: email.to_string(), note: note.into() }
    }
}

#[derive(Debug, Template)]
#[template(path = "class_roster.html")]
struct PreviewPage {
    t: Language,
    shell: Shell,
    name: String,
    path: String,
    groups: Vec<Group>,
    missing: Vec<Entry>,
    has_changes: bool,
    /// The changed members as JSON, for the form.
    rows: String,
}

fn groups(t: Language, plan: &Plan, unreadable: &[Unreadable]) -> Vec<Group> {
    let change = |from: &str, to: &str| t.with("roster-change", [("from", from.into()), ("to", to.into())]);
    let added = plan.added.iter().map(|row| Entry::new(&row.email, &row.name, t.named("role-{}", row.role.as_str())));
    let new_roles = plan.new_roles.iter().map(|(member, row)| {
        Entry::new(
            &row.email,
            &row.name,
            change(&t.named("role-{}", member.role.as_str()), &t.named("role-{}", row.role.as_str())),
        )
    });
    let new_names = plan.new_names.iter().map(|(member, row)| {
        let note = if member.name.is_empty() { String::new() } else { change(&member.name, &row.name) };
        Entry::new(&row.email, &row.name, note)
    });
    let unchanged = plan.unchanged.iter().map(|member| Entry::new(&member.email, &member.name, ""));
    let unreadable = unreadable.iter().map(|entry| Entry {
        name: String::new(),
        email: entry.text.clone(),
        note: t.with_one("roster-line", "line", entry.line),
    });
    let groups = [
        ("roster-added", "state-running", added.collect()),
        ("roster-new-roles", "state-starting", new_roles.collect()),
        ("roster-new-names", "state-starting", new_names.collect()),
        ("workshops-unreadable", "state-failed", unreadable.collect()),
        ("roster-unchanged", "", unchanged.collect::<Vec<_>>()),
    ];
    let groups = groups.into_iter().map(|(key, class, entries)| Group { title: t.text(key), class, entries });
    groups.filter(|group| !group.entries.is_empty()).collect()
}

/// `POST /classes/{class}/members`: shows what a pasted or uploaded list changes. Writes nothing.
pub(crate) async fn preview(visitor: InClass<ManageMembers, Visitor>, form: Upload) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    let pasted = form.field("addresses").to_owned();
    let text = if form.file.is_empty() { Some(pasted.clone()) } else { text_of(&form.file) };
    let roster = match text.map(|text| Roster::parse(&text)) {
        Some(Ok(roster)) if !roster.people.is_empty() => Ok(roster),
        Some(Ok(Roster { unreadable, .. })) if unreadable.is_empty() => Err(vec![t.text("roster-empty").into_owned()]),
        Some(Ok(Roster { unreadable, .. })) => Err(unreadable.iter().map(|entry| t.unreadable(entry)).collect()),
        Some(Err(error)) => Err(vec![t.roster_error(&error)]),
        None => Err(vec![t.text("roster-no-text").into_owned()]),
    };
    let roster = match roster {
        Ok(roster) => roster,
        Err(errors) => {
            let room = Room { addresses: pasted, errors, open: Some(Form::Members), ..Room::default() };
            return render(&visitor, access, StatusCode::UNPROCESSABLE_ENTITY, room).await;
        }
    };
    let role = ClassRole::parse(form.field("role")).unwrap_or(ClassRole::Student);
    let plan = Plan::new(visitor.launcher.members(access).await?, roster.people, role, visitor.caller.email());
    let entry = |member: &Member| Entry::new(&member.email, &member.name, t.named("role-{}", member.role.as_str()));
    let rows = plan.rows();
    page(&PreviewPage {
        t,
        shell: visitor.shell("classes").returning_to(path(access)),
        name: access.class().content.name.clone(),
        path: path(access),
        groups: groups(t, &plan, &roster.unreadable),
        missing: plan.missing.iter().map(entry).collect(),
        has_changes: !rows.is_empty(),
        rows: serde_json::to_string(&rows).map_err(Problem::internal)?,
    })
}

/// `POST /classes/{class}/members/apply`: writes the changes that the preview showed, and removes the ticked members.
pub(crate) async fn apply(visitor: InClass<ManageMembers, Visitor>, form: Upload) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    let other_page = || Problem::new(ProblemCode::InvalidFields, t.text("form-of-another-page"));
    let rows: Vec<Row> = serde_json::from_str(form.field("rows")).map_err(|_| other_page())?;
    let removed: Result<Vec<_>, _> = form.all("remove").map(EmailAddress::parse).collect();
    let removed = removed.map_err(|_| other_page())?;
    let drafts = rows.into_iter().map(|Row { email, name, role }| MemberDraft { email, role, name }).collect();
    match visitor.launcher.change_roster(access, drafts, &removed).await {
        Ok(_) => Ok(forms::redirect(&path(access))),
        Err(error) => {
            let room = Room { open: Some(Form::Members), ..Room::default() };
            refuse(&visitor, access, error, room).await
        }
    }
}

/// `GET /classes/{class}/members/export`: the members as a table, which the form of the list reads again.
pub(crate) async fn export(visitor: InClass<WatchClass, Visitor>) -> Result<Response, Problem> {
    let row = |Member { email, name, role, sources, joined_at }: Member| {
        let sources: Vec<&str> = sources.into_iter().map(MemberSource::as_str).collect();
        [email.to_string(), name, role.as_str().to_owned(), rfc3339(joined_at), sources.join(" ")]
    };
    let rows = visitor.launcher.members(&visitor.access).await?.into_iter().map(row);
    let name = format!("{}-members.csv", visitor.access.class().content.slug);
    spreadsheet(&name, ["email", "name", "role", "joined", "source"], rows)
}
