//! Actions on all workshops of a class: launch, extend, pause, end. Each asks first, and reports the result for each person.

use askama::Template;
use launcher_domain::{ClassAccess, ClassAction, ClassRole, InstanceState};
use launcher_service::{BulkResult, Page, ServiceError};
use serde::Deserialize;
use uuid::Uuid;

use crate::pages::classes::board::live_instances;
use crate::pages::classes::room::{Room, notify, render};
use crate::pages::classes::{ROWS, path};
use crate::pages::confirm::files_if_ended;
use crate::pages::report::{ExtendAll, Place, Report, times};
use crate::pages::view::Choice;
use crate::pages::{Fields, Language, PageResult, Shell, Text, Visitor, assets, notices, page};
use crate::permission::{EndInClass, ExtendInClass, InClass, LaunchForMembers};
use crate::problem::ProblemCode;

/// The question before an action.
#[derive(Debug, Template)]
#[template(path = "class_all.html")]
struct AllPage {
    t: Language,
    shell: Shell,
    title: Text,
    /// Number of workshops or students that the action concerns.
    count: usize,
    question: String,
    warning: Text,
    /// What happens to the files of the workshops, if the action ends them.
    files: Vec<String>,
    choice: Option<Select>,
    action: String,
    button: Text,
    button_class: &'static str,
    back: String,
}

#[derive(Debug)]
struct Select {
    name: &'static str,
    label: Text,
    options: Vec<Choice>,
    /// True if the script shows the options in local time.
    is_time: bool,
}

impl AllPage {
    /// Returns the question before an action, whose texts start with `all-` and its name.
    fn new(visitor: &Visitor, access: &ClassAccess, action: &str, count: usize) -> Self {
        let (t, back) = (visitor.t, path(access));
        let text = |part: &str| t.text(&format!("all-{action}-{part}"));
        Self {
            t,
            shell: visitor.shell("classes"),
            title: text("title"),
            count,
            question: t.with_one(&format!("all-{action}-question"), "count", count),
            warning: text("warning"),
            files: Vec::new(),
            choice: None,
            action: format!("{back}/{action}"),
            button: text("title"),
            button_class: if action == "end" { "button-danger" } else { "button-main" },
            back,
        }
    }
}

fn place(visitor: &Visitor, access: &ClassAccess) -> Place {
    Place {
        shell: visitor.shell("classes"),
        name: access.class().content.name.clone(),
        back: path(access),
        back_key: "back-to-class",
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

pub(crate) async fn confirm_extend(visitor: InClass<ExtendInClass, Visitor>) -> PageResult {
    let t = visitor.t;
    let listed = live_instances(&visitor, &visitor.access).await?;
    let running: Vec<_> = listed.iter().filter(|one| one.instance.state == InstanceState::Running).collect();
    let latest_end = running.iter().filter_map(|one| one.instance.expires_at).max();
    let options = times(t, visitor.launcher.clock().now(), latest_end);
    let choice = Some(Select { name: "until", label: t.text("workshops-extend-until"), options, is_time: true });
    page(&AllPage { choice, ..AllPage::new(&visitor, &visitor.access, "extend", running.len()) })
}

/// `POST /classes/{class}/extend`. A repeated request changes nothing.
pub(crate) async fn extend(visitor: InClass<ExtendInClass, Visitor>, Fields(form): Fields<ExtendAll>) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    let (until, bound) = form.read(t)?;
    let results = visitor.launcher.extend_all_in_class(access, until, bound).await?;
    let beyond = access.allows(ClassAction::End).then(|| format!("{}/extend", path(access)));
    page(&Report::of_extension(t, place(&visitor, access), &results, (until, bound), beyond))
}

pub(crate) async fn confirm_launch(visitor: InClass<LaunchForMembers, Visitor>) -> PageResult {
    let (t, access) = (visitor.t, &visitor.access);
    let templates = visitor.launcher.templates(access, &Page { limit: ROWS, after: None }).await?;
    let active = templates.iter().filter(|template| template.active);
    let options: Vec<_> =
        active.map(|template| Choice::new(template.template_id, &template.settings.name, false)).collect();
    let choice = Some(Select { name: "template_id", label: t.text("all-launch-template"), options, is_time: false });
    let members = visitor.launcher.members(access).await?;
    let students = members.iter().filter(|member| member.role == ClassRole::Student).count();
    page(&AllPage { choice, ..AllPage::new(&visitor, access, "launch", students) })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchAll {
    template_id: Uuid,
}

/// `POST /classes/{class}/launch`. A repeated request launches only for students without a workshop of the template.
pub(crate) async fn launch(visitor: InClass<LaunchForMembers, Visitor>, Fields(form): Fields<LaunchAll>) -> PageResult {
    let results = visitor.launcher.launch_for_class(&visitor.access, form.template_id).await;
    report(&visitor, &visitor.access, results, ["all-launch-result", "all-launch-done", "all-launch-unchanged"]).await
}

pub(crate) async fn confirm_pause(visitor: InClass<EndInClass, Visitor>) -> PageResult {
    let listed = live_instances(&visitor, &visitor.access).await?;
    let count = listed.iter().filter(|one| one.instance.state == InstanceState::Running).count();
    page(&AllPage::new(&visitor, &visitor.access, "pause", count))
}

/// `POST /classes/{class}/pause`. A repeated request changes nothing.
pub(crate) async fn pause(visitor: InClass<EndInClass, Visitor>, Fields(_): Fields<NoFields>) -> PageResult {
    let results = visitor.launcher.suspend_class(&visitor.access).await;
    report(&visitor, &visitor.access, results, ["all-pause-result", "all-pause-done", "all-pause-done"]).await
}

pub(crate) async fn confirm_end(visitor: InClass<EndInClass, Visitor>) -> PageResult {
    let listed = live_instances(&visitor, &visitor.access).await?;
    let files = files_if_ended(&visitor, &listed);
    page(&AllPage { files, ..AllPage::new(&visitor, &visitor.access, "end", listed.len()) })
}

/// `POST /classes/{class}/end`. A repeated request changes nothing.
pub(crate) async fn end(visitor: InClass<EndInClass, Visitor>, Fields(_): Fields<NoFields>) -> PageResult {
    let results = visitor.launcher.end_class(&visitor.access).await;
    report(&visitor, &visitor.access, results, ["all-end-result", "all-end-done", "all-end-unchanged"]).await
}

/// Shows the report, or returns to the room with a notice if the whole action was refused.
async fn report(
    visitor: &Visitor,
    access: &ClassAccess,
    results: Result<Vec<BulkResult>, ServiceError>,
    texts: [&str; 3],
) -> PageResult {
    match results {
        Ok(results) => page(&Report::of_action(visitor.t, place(visitor, access), &results, texts)),
        Err(ServiceError::Invalid(_)) => {
            let notice = Some(notices::needs_values(visitor.t));
            render(visitor, access, ProblemCode::InvalidFields.status(), Room { notice, ..Room::default() }).await
        }
        Err(error) => notify(visitor, access, error).await,
    }
}
