//! `GET /admin/instances`: all instances, filtered by text, owner, template and state, and sorted by a column.

use askama::Template;
use axum::extract::{OriginalUri, State};
use http::{StatusCode, Uri};
use launcher_domain::{EmailAddress, InstanceState};
use launcher_service::{Cursor, InstanceFilter, SearchText, SortOrder, StateFilter};
use serde::Deserialize;
use uuid::Uuid;

use super::restart::outdated;
use super::sorting::{heads, includes_ended, order};
use super::table::InstanceTable;
use crate::pages::forms::Query;
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Language, Text};
use crate::pages::view::{Choice, Shell, WorkshopView, machine_now};
use crate::pages::{assets, forms, workshops};
use crate::permission::{Allowed, ListAllInstances};
use crate::state::AppState;

/// Number of rows per page.
const ROWS: u32 = 100;

#[derive(Debug, Template)]
#[template(path = "admin/instances.html")]
struct InstancesPage {
    t: Language,
    shell: Shell,
    filter: InstancesQuery,
    /// Owner whose instances the list shows; `None` for all owners.
    owner: Option<EmailAddress>,
    owner_error: Option<Text>,
    templates: Vec<Choice>,
    states: Vec<Choice>,
    /// Number of instances that match the filter, on all pages of the list.
    total: String,
    /// Number of running workshops with an older version, of all owners.
    outdated: u64,
    /// Note that the search did not examine older instances.
    search_note: Option<String>,
    /// True if the list is expensive to read, so that the page updates it less often.
    is_expensive: bool,
    table: InstanceTable,
    more: Option<String>,
    more_label: Text,
    now: String,
}

/// Query of the list: filters, sort order and cursor. An empty field has no effect.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InstancesQuery {
    /// Part of an owner's address, a template's name or an instance's name.
    q: String,
    /// Exact address of an owner. The form has no field for it, but links do.
    owner: String,
    template: String,
    state: String,
    sort: String,
    after: String,
}

/// Serves the list of all instances.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ListAllInstances>,
    OriginalUri(uri): OriginalUri,
    Query(query): Query<InstancesQuery>,
) -> PageResult {
    let launcher = &state.launcher;
    let filter = query.filter();
    let order = order(&query.sort, filter.state);
    let after: Option<Cursor> = query.after.parse().ok();
    let listed = launcher.sorted_instances(&caller, &filter, order, after.as_ref(), ROWS).await?;
    let count = launcher.count_instances(&caller, &filter).await?;
    let outdated = launcher.count_instances(&caller, &outdated()).await?.matches;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    let mut templates = workshops::all_templates(launcher, &caller).await?;
    templates.sort_by_cached_key(|template| template.settings.name.to_lowercase());
    let instances = InstancesPage {
        t,
        shell: shell(&state, &caller, t, "admin-instances"),
        owner: filter.owner_email,
        owner_error: query.owner_error(t),
        templates: templates
            .iter()
            .map(|template| choice(&template.template_id.to_string(), &template.settings.name, &query.template))
            .collect(),
        states: states(t, &query.state),
        total: t.instance_count(count, filter.search.is_some()),
        outdated,
        search_note: (filter.search.is_some() && !count.is_complete)
            .then(|| t.with_one("instance-search-newest", "limit", t.number(count.max_examined))),
        is_expensive: filter.search.is_some() && includes_ended(filter.state),
        table: InstanceTable {
            heads: heads(t, order, filter.state, |sort| query.address(sort, None)),
            workshops: listed.iter().map(|listed| WorkshopView::new(t, launcher, &caller, listed)).collect(),
            shows_template: true,
            here: path_and_query(&uri),
        },
        more: last.map(|last| query.address(&query.sort, Some(&order.cursor(&last.instance)))),
        more_label: if order == SortOrder::NEWEST { t.text("older") } else { t.text("more") },
        now: machine_now(launcher.clock()),
        filter: query,
    };
    page(StatusCode::OK, &instances)
}

impl InstancesQuery {
    fn filter(&self) -> InstanceFilter {
        let state = match self.state.as_str() {
            "ended" => StateFilter::Ended,
            "all" => StateFilter::All,
            other => InstanceState::parse(other).map_or(StateFilter::Live, StateFilter::Only),
        };
        InstanceFilter {
            state,
            owner_email: EmailAddress::parse(&self.owner).ok(),
            template_id: Uuid::try_parse(&self.template).ok(),
            search: SearchText::new(&self.q),
        }
    }

    fn owner_error(&self, t: Language) -> Option<Text> {
        let wrong = !self.owner.trim().is_empty() && EmailAddress::parse(&self.owner).is_err();
        wrong.then(|| t.text("not-an-email"))
    }

    /// Returns the URL of this list with the order `sort`, starting after the row of the cursor `after`.
    fn address(&self, sort: &str, after: Option<&Cursor>) -> String {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let fields = [
            ("q", self.q.as_str()),
            ("owner", &self.owner),
            ("template", &self.template),
            ("state", &self.state),
            ("sort", sort),
            ("after", &after),
        ];
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        format!("/admin/instances?{}", query.finish())
    }
}

fn path_and_query(uri: &Uri) -> String {
    forms::return_to(uri.path_and_query().map(|here| here.as_str())).as_str().to_owned()
}

fn states(t: Language, chosen: &str) -> Vec<Choice> {
    let named = [("", t.text("not-ended")), ("ended", t.text("everything-ended")), ("all", t.text("every-state"))];
    let single = InstanceState::ALL.map(|state| (state.as_str(), t.state_name(state)));
    named.into_iter().chain(single).map(|(value, label)| choice(value, &label, chosen)).collect()
}

fn choice(value: &str, label: &str, chosen: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned(), selected: value == chosen }
}
