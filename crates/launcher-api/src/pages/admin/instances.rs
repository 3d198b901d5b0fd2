//! `GET /admin/instances`: all instances, filtered by text, owner, template and state, and sorted by a column. The page
//! of a class shows the same table.

use askama::Template;
use axum::extract::OriginalUri;
use launcher_domain::{EmailAddress, InstanceState, Template as CatalogTemplate};
use launcher_service::{Cursor, InstanceFilter, SearchText, SortBy, SortOrder, StateFilter};
use serde::Deserialize;
use uuid::Uuid;

use crate::pages::admin::bulk::outdated;
use crate::pages::view::{Choice, WorkshopView};
use crate::pages::{Language, PageResult, Query, Shell, Text, Visitor, assets, forms, page, workshops};
use crate::permission::{Allowed, ListAllInstances};

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

pub(crate) async fn show(
    visitor: Allowed<ListAllInstances, Visitor>,
    OriginalUri(uri): OriginalUri,
    Query(query): Query<InstancesQuery>,
) -> PageResult {
    let (t, launcher, caller) = (visitor.t, &visitor.launcher, &visitor.caller);
    let filter = query.filter();
    let order = order(&query.sort, filter.state);
    let after: Option<Cursor> = query.after.parse().ok();
    let listed = launcher.sorted_instances(caller, &filter, order, after.as_ref(), ROWS).await?;
    let count = launcher.count_instances(caller, &filter).await?;
    let outdated = launcher.count_instances(caller, &outdated()).await?.matches;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    let mut templates = workshops::all_templates(&visitor).await?;
    templates.sort_by_cached_key(|template| template.settings.name.to_lowercase());
    let template = |template: &CatalogTemplate| {
        let id = template.template_id.to_string();
        Choice::new(&id, &template.settings.name, id == query.template)
    };
    let instances = InstancesPage {
        t,
        shell: visitor.shell("admin-instances"),
        owner: filter.owner_email,
        owner_error: query.owner_error(t),
        templates: templates.iter().map(template).collect(),
        states: states(t, &query.state),
        total: t.instance_count(count, filter.search.is_some()),
        outdated,
        search_note: (filter.search.is_some() && !count.is_complete)
            .then(|| t.with_one("instance-search-newest", "limit", t.number(count.max_examined))),
        is_expensive: filter.search.is_some() && includes_ended(filter.state),
        table: InstanceTable {
            heads: heads(t, order, filter.state, |sort| query.address(sort, None)),
            workshops: listed.iter().map(|listed| WorkshopView::new(&visitor, listed)).collect(),
            shows_template: true,
            here: forms::return_to(uri.path_and_query().map(|here| here.as_str())).as_str().to_owned(),
        },
        more: last.map(|last| query.address(&query.sort, Some(&order.cursor(&last.instance)))),
        more_label: if order == SortOrder::NEWEST { t.text("older") } else { t.text("more") },
        now: visitor.machine_now(),
        filter: query,
    };
    page(&instances)
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

fn states(t: Language, chosen: &str) -> Vec<Choice> {
    let named = [("", t.text("not-ended")), ("ended", t.text("everything-ended")), ("all", t.text("every-state"))];
    let single = InstanceState::ALL.map(|state| (state.as_str(), t.state_name(state)));
    named.into_iter().chain(single).map(|(value, label)| Choice::new(value, label, value == chosen)).collect()
}

/// Maximum number of instances in one request of the bulk form. No list shows more rows.
pub(super) const MAX_INSTANCES: usize = 500;

/// Data of `admin/instance_table.html`.
#[derive(Debug)]
pub(super) struct InstanceTable {
    pub(super) heads: Vec<Head>,
    pub(super) workshops: Vec<WorkshopView>,
    /// True if the table has a column with the template's name.
    pub(super) shows_template: bool,
    /// Path and query of the page, which the forms in the table return to.
    pub(super) here: String,
}

/// Names of the sort orders in a URL. A leading minus reverses the order.
const NAMES: [(SortBy, &str); 5] = [
    (SortBy::Owner, "owner"),
    (SortBy::Template, "template"),
    (SortBy::State, "state"),
    (SortBy::Launch, "launch"),
    (SortBy::End, "end"),
];

/// Position of the column with the instance's name, which cannot sort the list.
const NAME_COLUMN: usize = 2;
/// Position of the column with the trouble of the course material, after the state.
const MATERIAL_COLUMN: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) label: Text,
    /// URL that sorts by this column, or reverses the order if the list is already sorted by it. `None` for a column
    /// that cannot sort the list.
    pub(super) href: Option<String>,
    /// `ascending` or `descending` if the list is sorted by this column, else `None`.
    pub(super) sorted: Option<&'static str>,
}

/// Returns the sort order that a URL requests. Sorts a list with terminated instances only by launch, because that
/// order has an index: any other order would read and sort the whole history.
fn order(asked: &str, state: StateFilter) -> SortOrder {
    let (name, descending) = asked.strip_prefix('-').map_or((asked, false), |name| (name, true));
    let by = NAMES.iter().find(|(_, known)| *known == name).map(|(by, _)| *by);
    match by {
        Some(by) if can_sort(by, state) => SortOrder { by, descending },
        _ => SortOrder::NEWEST,
    }
}

/// Returns the column heads of a list in this order. `href` returns the URL of the same list in another order.
fn heads(t: Language, order: SortOrder, state: StateFilter, href: impl Fn(&str) -> String) -> Vec<Head> {
    let mut heads: Vec<Head> = NAMES
        .into_iter()
        .map(|(by, name)| {
            let is_sorted = by == order.by;
            // The first click on a column sorts in its most useful direction: newest launch first, all other columns
            // ascending.
            let descending = if is_sorted { !order.descending } else { by == SortBy::Launch };
            let next = if descending { format!("-{name}") } else { name.to_owned() };
            Head {
                label: t.text(&format!("sorted-by-{name}")),
                href: can_sort(by, state).then(|| href(&next)),
                sorted: is_sorted.then_some(if order.descending { "descending" } else { "ascending" }),
            }
        })
        .collect();
    let unsorted = |key| Head { label: t.text(key), href: None, sorted: None };
    heads.insert(NAME_COLUMN, unsorted("instance"));
    heads.insert(MATERIAL_COLUMN, unsorted("material"));
    heads
}

/// Returns the column heads of a class, which is sorted by owner and has no column for the template.
pub(super) fn workshop_heads(t: Language) -> Vec<Head> {
    let head = |key: &str, sorted| Head { label: t.text(key), href: None, sorted };
    let mut heads = vec![head("sorted-by-owner", Some("ascending"))];
    heads.extend(
        ["instance", "sorted-by-state", "material", "sorted-by-launch", "sorted-by-end"].map(|key| head(key, None)),
    );
    heads
}

fn can_sort(by: SortBy, state: StateFilter) -> bool {
    by == SortBy::Launch || !includes_ended(state)
}

/// Returns true if a list with this filter includes terminated instances: the whole history.
fn includes_ended(state: StateFilter) -> bool {
    use launcher_domain::InstanceState::Terminated;
    matches!(state, StateFilter::All | StateFilter::Ended | StateFilter::Only(Terminated))
}
