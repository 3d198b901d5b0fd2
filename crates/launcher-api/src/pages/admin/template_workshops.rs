//! `/admin/templates/{template_id}/workshops`: all workshops of one template, and their extension until one time.
//!
//! A pasted list of addresses is part of the request only: the launcher does not store it.

use std::collections::HashMap;

use askama::Template;
use http::StatusCode;
use launcher_domain::EmailAddress;
use launcher_domain::InstanceState::{
    self, Failed, Queued, Running, Starting, Suspended, Suspending, Terminated, Terminating,
};
use launcher_service::{Cursor, InstanceFilter, Page, ServiceError, SortBy, SortOrder, StateFilter, TemplateStates};
use serde::Deserialize;
use uuid::Uuid;

use crate::extract::TemplateId;
use crate::pages::admin::instances::{InstanceTable, workshop_heads};
use crate::pages::confirm::{Question, confirm};
use crate::pages::forms::AfterQuery;
use crate::pages::paths::TEMPLATES;
use crate::pages::report::{ExtendAll, Place, Report, times};
use crate::pages::roster::{MAX_ENTRIES, Roster};
use crate::pages::view::{Choice, WorkshopView};
use crate::pages::{
    Fields, Language, PageResult, Query, ReturnForm, Shell, Text, Visitor, assets, forms, page, page_with,
};
use crate::permission::{Allowed, ManageWorkshops};

/// Maximum number of rows on one page of the table.
const ROWS: u32 = 200;
/// Number of instances that one query reads for the comparison with a list of addresses.
const BATCH: u32 = 50;
/// Order of the table, in which a teacher finds a person.
const ORDER: SortOrder = SortOrder { by: SortBy::Owner, descending: false };

#[derive(Debug, Template)]
#[template(path = "admin/template_workshops.html")]
struct WorkshopsPage {
    t: Language,
    shell: Shell,
    template_id: Uuid,
    name: String,
    tiles: Vec<(InstanceState, u64)>,
    /// Number of workshops whose course material did not load, or has files in conflict.
    troubles: u64,
    times: Vec<Choice>,
    table: InstanceTable,
    /// Number of rows, if the table does not show all workshops.
    part: Option<String>,
    first: Option<String>,
    more: Option<String>,
    most: usize,
    list: List,
}

/// The pasted list of addresses. Empty before the form is sent.
#[derive(Debug, Default)]
struct List {
    /// The text of the form, as it was typed.
    text: String,
    error: Option<String>,
    /// The readable addresses, one per line; empty if the list has none. The script sends them at each update.
    addresses: String,
    groups: Vec<Group>,
}

/// People of the list with the same standing, or entries of the list that are not addresses.
#[derive(Debug)]
struct Group {
    label: Text,
    /// CSS class with the colour of the group.
    class: String,
    entries: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RosterForm {
    addresses: String,
}

pub(crate) async fn show(
    visitor: Allowed<ManageWorkshops, Visitor>,
    TemplateId(id): TemplateId,
    Query(query): Query<AfterQuery>,
) -> PageResult {
    page(&workshops_page(&visitor, id, &query, List::default()).await?)
}

pub(crate) async fn compare(
    visitor: Allowed<ManageWorkshops, Visitor>,
    TemplateId(id): TemplateId,
    Query(query): Query<AfterQuery>,
    Fields(form): Fields<RosterForm>,
) -> PageResult {
    let (status, list) = match Roster::parse(&form.addresses) {
        Ok(roster) => {
            let live = live_instances(&visitor, id).await?;
            (StatusCode::OK, List::new(visitor.t, form.addresses, &roster, &live))
        }
        Err(error) => {
            let error = Some(visitor.t.roster_error(&error));
            (StatusCode::UNPROCESSABLE_ENTITY, List { text: form.addresses, error, ..List::default() })
        }
    };
    page_with(status, &workshops_page(&visitor, id, &query, list).await?)
}

async fn workshops_page(
    visitor: &Visitor,
    template_id: Uuid,
    query: &AfterQuery,
    list: List,
) -> Result<WorkshopsPage, ServiceError> {
    let (t, launcher, caller) = (visitor.t, &visitor.launcher, &visitor.caller);
    let states = launcher.template_states(caller, template_id).await?;
    let (filter, after) = (of_template(template_id), query.after.parse::<Cursor>().ok());
    let mut listed = launcher.sorted_instances(caller, &filter, ORDER, after.as_ref(), ROWS + 1).await?;
    let has_more = listed.len() > ROWS as usize;
    listed.truncate(ROWS as usize);
    let last = listed.last().filter(|_| has_more).map(|last| ORDER.cursor(&last.instance));
    let is_part = has_more || after.is_some();
    let all: u64 = states.states.iter().map(|(_, count)| count).sum();
    let values = [("shown", listed.len().into()), ("all", all.into())];
    let table = InstanceTable {
        heads: workshop_heads(t),
        workshops: listed.iter().map(|listed| WorkshopView::new(visitor, listed)).collect(),
        shows_template: false,
        here: page_path(template_id, after.as_ref()),
    };
    Ok(WorkshopsPage {
        t,
        shell: visitor.shell("admin-templates"),
        template_id,
        tiles: tiles(&states),
        name: states.template.settings.name,
        times: times(t, launcher.clock().now(), states.latest_end),
        troubles: states.material_troubles,
        part: is_part.then(|| t.with("workshops-part", values)),
        first: after.is_some().then(|| workshops_path(template_id)),
        more: last.map(|last| page_path(template_id, Some(&last))),
        table,
        most: MAX_ENTRIES,
        list,
    })
}

fn workshops_path(template_id: Uuid) -> String {
    format!("/admin/templates/{template_id}/workshops")
}

/// Returns the path of the page whose table starts after this row.
fn page_path(template_id: Uuid, after: Option<&Cursor>) -> String {
    let Some(after) = after else { return workshops_path(template_id) };
    let mut query = form_urlencoded::Serializer::new(String::new());
    format!("{}?{}", workshops_path(template_id), query.append_pair("after", &after.to_string()).finish())
}

fn of_template(template_id: Uuid) -> InstanceFilter {
    InstanceFilter { state: StateFilter::Live, template_id: Some(template_id), ..InstanceFilter::default() }
}

/// Returns owner and state of each instance of a template that is not terminated. Keeps no more of an instance than
/// that: its settings can have 256 KiB.
async fn live_instances(visitor: &Visitor, id: Uuid) -> Result<Vec<(EmailAddress, InstanceState)>, ServiceError> {
    let (filter, mut live, mut after) = (of_template(id), Vec::new(), None);
    loop {
        let batch = visitor.launcher.instances(&visitor.caller, &filter, &Page { limit: BATCH, after }).await?;
        let Some(last) = batch.last() else { return Ok(live) };
        after = Some(last.instance.instance_id);
        live.extend(batch.into_iter().map(|listed| (listed.instance.owner_email, listed.instance.state)));
    }
}

/// Returns the numbers of workshops. A queued instance counts as starting.
fn tiles(all: &TemplateStates) -> Vec<(InstanceState, u64)> {
    let tile = |wanted| {
        let counts = all.states.iter().filter(|(state, _)| shown(*state) == Some(wanted)).map(|(_, count)| count);
        (wanted, counts.sum())
    };
    // Most templates have no workshops that can be paused.
    let is_shown = |(state, count): &(InstanceState, u64)| *state != Suspended || *count > 0;
    [Starting, Running, Suspended, Failed, Terminating].map(tile).into_iter().filter(is_shown).collect()
}

/// Returns the state whose name and colour the page uses for a workshop.
fn shown(state: InstanceState) -> Option<InstanceState> {
    match state {
        Queued | Starting => Some(Starting),
        Suspending | Suspended => Some(Suspended),
        Running | Failed | Terminating => Some(state),
        Terminated => None,
    }
}

/// The states of people, in the order of the page; `None`: not launched.
const SHOWN: [Option<InstanceState>; 6] =
    [None, Some(Failed), Some(Starting), Some(Running), Some(Suspended), Some(Terminating)];
/// The same states. A later one wins if a person has several workshops of the template.
const RANKED: [Option<InstanceState>; 6] =
    [None, Some(Terminating), Some(Failed), Some(Suspended), Some(Starting), Some(Running)];

/// Returns the people of the list by state. `live` has the owner and the state of each instance of the class that is not
/// terminated.
fn by_standing<'r>(
    roster: &'r Roster,
    live: &[(EmailAddress, InstanceState)],
) -> [(Option<InstanceState>, Vec<&'r EmailAddress>); 6] {
    let mut best: HashMap<&EmailAddress, usize> = HashMap::new();
    for (owner, state) in live {
        let rank = RANKED.iter().position(|ranked| *ranked == shown(*state)).unwrap_or_default();
        best.entry(owner).and_modify(|best| *best = rank.max(*best)).or_insert(rank);
    }
    let standing = |email: &EmailAddress| best.get(email).and_then(|rank| RANKED[*rank]);
    let emails = || roster.people.iter().map(|person| &person.email);
    SHOWN.map(|wanted| (wanted, emails().filter(|email| standing(email) == wanted).collect()))
}

impl List {
    fn new(t: Language, text: String, roster: &Roster, live: &[(EmailAddress, InstanceState)]) -> Self {
        let mut groups: Vec<Group> = by_standing(roster, live)
            .into_iter()
            .map(|(standing, people)| Group {
                label: standing.map_or_else(|| t.text("workshops-not-launched"), |state| t.state_name(state)),
                class: standing.map_or_else(String::new, |state| format!("state-{}", state.as_str())),
                entries: people.iter().map(ToString::to_string).collect(),
            })
            .collect();
        groups.push(Group {
            label: t.text("workshops-unreadable"),
            class: String::new(),
            entries: roster.unreadable.iter().map(|entry| entry.text.clone()).collect(),
        });
        groups.retain(|group| !group.entries.is_empty());
        let addresses: Vec<&str> = roster.people.iter().map(|person| person.email.as_str()).collect();
        Self { text, error: None, addresses: addresses.join("\n"), groups }
    }

    fn is_open(&self) -> bool {
        !self.text.is_empty()
    }
}

/// Extends all workshops, and shows the result for each instance. A repeated request changes nothing.
pub(crate) async fn extend(
    visitor: Allowed<ManageWorkshops, Visitor>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<ExtendAll>,
) -> PageResult {
    let t = visitor.t;
    let template = visitor.launcher.template(&visitor.caller, id).await?;
    let (until, bound) = form.read(t)?;
    let results = visitor.launcher.extend_template(&visitor.caller, id, until, bound).await?;
    let (shell, name, back) = (visitor.shell("admin-templates"), template.settings.name, workshops_path(id));
    let beyond = Some(format!("/admin/templates/{id}/extend"));
    let place = Place { shell, name, back, back_key: "workshops-back" };
    page(&Report::of_extension(t, place, &results, (until, bound), beyond))
}

/// `GET /admin/templates/{template_id}/maximum`: asks if the maximum lifetime of a changed template applies to its current
/// workshops.
pub(crate) async fn confirm_maximum(
    visitor: Allowed<ManageWorkshops, Visitor>,
    TemplateId(id): TemplateId,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let t = visitor.t;
    let template = visitor.launcher.template(&visitor.caller, id).await?;
    let count = visitor.launcher.count_below_maximum(&visitor.caller, id).await?;
    let longest = t.duration(template.settings.max_lifetime_seconds.into());
    let name = template.settings.name.as_str();
    let ask = Question {
        title: t.with_one("maximum-title", "name", name).into(),
        question: t.with("maximum-question", [("count", count.into()), ("longest", longest.into())]),
        warning: t.with_one("maximum-warning", "name", name).into(),
        action: format!("/admin/templates/{id}/maximum"),
        button: t.text("maximum-button"),
        button_class: "button-main",
        cancel: t.text("maximum-cancel"),
        return_to: query.path().as_str().to_owned(),
        ..Question::default()
    };
    confirm(&visitor, "admin-templates", ask)
}

/// `POST /admin/templates/{template_id}/maximum`. A repeated request changes nothing.
pub(crate) async fn apply_maximum(
    visitor: Allowed<ManageWorkshops, Visitor>,
    TemplateId(id): TemplateId,
    Fields(_): Fields<ReturnForm>,
) -> PageResult {
    let count = visitor.launcher.apply_maximum(&visitor.caller, id).await?.len();
    Ok(forms::redirect(&format!("{TEMPLATES}?saved={id}&raised={count}")))
}
