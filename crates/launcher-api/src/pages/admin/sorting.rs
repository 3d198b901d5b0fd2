//! The heads of the table of all instances: what it can be sorted by, and what it is sorted by.

use launcher_service::{Order, SortBy, StateFilter};

use crate::pages::texts;

/// What can be sorted by, as it is written in an address; a minus before it turns it round.
const NAMES: [(SortBy, &str); 5] = [
    (SortBy::Template, "template"),
    (SortBy::Owner, "owner"),
    (SortBy::State, "state"),
    (SortBy::Launch, "launch"),
    (SortBy::End, "end"),
];

/// A head of a column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) label: &'static str,
    /// Sorts by this column, or turns the order round; `None` where the list cannot be sorted by it.
    pub(super) href: Option<String>,
    /// `ascending` or `descending`: the list is sorted by this column.
    pub(super) sorted: Option<&'static str>,
}

/// The order that an address asks for. What has ended comes by its launch only: that is where an index leads, and all
/// of the history would have to be read and sorted for anything else.
pub(super) fn order(asked: &str, state: StateFilter) -> Order {
    let (name, descending) = asked.strip_prefix('-').map_or((asked, false), |name| (name, true));
    let by = NAMES.iter().find(|(_, known)| *known == name).map(|(by, _)| *by);
    match by {
        Some(by) if can_sort(by, state) => Order { by, descending },
        _ => Order::NEWEST,
    }
}

/// The heads of a list in this order; `href` is the address of the same list in another one.
pub(super) fn heads(order: Order, state: StateFilter, href: impl Fn(&str) -> String) -> Vec<Head> {
    NAMES
        .into_iter()
        .map(|(by, name)| {
            let is_sorted = by == order.by;
            // A first click shows what is looked for most: the newest, A to Z, what waits, what ends next.
            let descending = if is_sorted { !order.descending } else { by == SortBy::Launch };
            let next = if descending { format!("-{name}") } else { name.to_owned() };
            Head {
                label: texts::sorted_by(by),
                href: can_sort(by, state).then(|| href(&next)),
                sorted: is_sorted.then_some(if order.descending { "descending" } else { "ascending" }),
            }
        })
        .collect()
}

fn can_sort(by: SortBy, state: StateFilter) -> bool {
    use launcher_domain::InstanceState::Terminated;
    by == SortBy::Launch || !matches!(state, StateFilter::All | StateFilter::Ended | StateFilter::Only(Terminated))
}
