//! Column heads of the table of all instances. Their links sort the table.

use launcher_service::{SortBy, SortOrder, StateFilter};

use crate::pages::language::{Language, Text};

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

/// The head of a table column.
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
pub(super) fn order(asked: &str, state: StateFilter) -> SortOrder {
    let (name, descending) = asked.strip_prefix('-').map_or((asked, false), |name| (name, true));
    let by = NAMES.iter().find(|(_, known)| *known == name).map(|(by, _)| *by);
    match by {
        Some(by) if can_sort(by, state) => SortOrder { by, descending },
        _ => SortOrder::NEWEST,
    }
}

/// Returns the column heads of a list in this order. `href` returns the URL of the same list in another order.
pub(super) fn heads(t: Language, order: SortOrder, state: StateFilter, href: impl Fn(&str) -> String) -> Vec<Head> {
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
    heads.insert(NAME_COLUMN, Head { label: t.text("instance"), href: None, sorted: None });
    heads
}

/// Returns the column heads of a class, which is sorted by owner and has no column for the template.
pub(super) fn class_heads(t: Language) -> Vec<Head> {
    let head = |key: &str, sorted| Head { label: t.text(key), href: None, sorted };
    let mut heads = vec![head("sorted-by-owner", Some("ascending"))];
    heads.extend(["instance", "sorted-by-state", "sorted-by-launch", "sorted-by-end"].map(|key| head(key, None)));
    heads
}

fn can_sort(by: SortBy, state: StateFilter) -> bool {
    by == SortBy::Launch || !includes_ended(state)
}

/// Returns true if a list with this filter includes terminated instances: the whole history.
pub(super) fn includes_ended(state: StateFilter) -> bool {
    use launcher_domain::InstanceState::Terminated;
    matches!(state, StateFilter::All | StateFilter::Ended | StateFilter::Only(Terminated))
}
