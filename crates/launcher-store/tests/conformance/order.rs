//! Pages of sorted lists.

use std::cmp::Reverse;

use launcher_domain::{EndReason, Instance, InstanceState};
use launcher_store::{Cursor, InstanceFilter, SortBy, SortOrder, StateFilter, Store};
use uuid::Uuid;

use crate::support::*;

const ALL: [SortBy; 5] = [SortBy::Launch, SortBy::Owner, SortBy::Template, SortBy::State, SortBy::End];

/// Launches instances with many equal sort keys: three owners, template names that differ in case or have non-ASCII
/// letters, all states, equal end times, and no end time.
async fn many(store: &Store) -> Vec<Instance> {
    let mut rows = Vec::new();
    for number in 0..42_i64 {
        let pick = |count: usize| usize::try_from(number).unwrap() % count;
        let mut draft = instance(["carol@example.org", "alice@example.org", "bob@example.org"][pick(3)]);
        draft.settings.name = ["beta", "Alpha", "ärger", "Ähre", "alpha"][pick(5)].to_owned();
        let row = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        let change = |row: &mut Instance| {
            row.state = InstanceState::ALL[pick(6)];
            row.expires_at = Some(at(7 * (number % 4)));
            if row.state == InstanceState::Terminated {
                (row.ended_at, row.end_reason) = (Some(at(7 * (number % 3))), Some(EndReason::Owner));
            }
        };
        rows.push(changed(store, &row, change).await);
    }
    rows
}

/// Returns the expected ascending sort key. A row without an end time has the greatest key.
fn value(by: SortBy, row: &Instance) -> (String, i64) {
    let end = if row.state == InstanceState::Running { row.expires_at } else { row.ended_at };
    match by {
        SortBy::Launch => (row.instance_id.to_string(), 0),
        SortBy::Owner => (row.owner_email.to_string(), 0),
        SortBy::Template => (row.settings.name.to_ascii_lowercase(), 0),
        SortBy::State => {
            (String::new(), InstanceState::ALL.iter().position(|state| *state == row.state).unwrap() as i64)
        }
        SortBy::End => (String::new(), end.map_or(i64::MAX, |end| end.as_second())),
    }
}

fn expected(mut rows: Vec<Instance>, order: SortOrder) -> Vec<String> {
    rows.sort_by_key(|row| Reverse(row.instance_id));
    rows.sort_by_key(|row| value(order.by, row));
    if order.descending {
        rows.sort_by_key(|row| Reverse(value(order.by, row)));
        // Rows without an end time come last in both directions.
        rows.sort_by_key(|row| order.by == SortBy::End && value(order.by, row).1 == i64::MAX);
    }
    names(&rows).into_iter().map(str::to_owned).collect()
}

/// Reads the whole list in pages of `limit` rows. Each cursor is formatted and parsed, as in a URL.
async fn paged(store: &Store, filter: &InstanceFilter, order: SortOrder, limit: u32) -> Vec<String> {
    let mut seen = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let page = store.sorted_instances(&admin(), filter, order, after.as_ref(), limit).await.unwrap();
        let Some(last) = page.last() else { return seen };
        after = Some(order.cursor(&last.instance).to_string().parse().unwrap());
        seen.extend(page.into_iter().map(|listed| listed.instance.k8s_name));
    }
}

#[tokio::test]
async fn sorted_pages_list_each_row_once() {
    on_every_engine(async |store| {
        let rows = many(&store).await;
        for by in ALL {
            for descending in [false, true] {
                let order = SortOrder { by, descending };
                for state in [StateFilter::All, StateFilter::Live, StateFilter::Only(InstanceState::Running)] {
                    let filter = InstanceFilter { state, ..InstanceFilter::default() };
                    let shown = |row: &&Instance| match state {
                        StateFilter::Live => row.state != InstanceState::Terminated,
                        StateFilter::Only(only) => row.state == only,
                        _ => true,
                    };
                    let expected = expected(rows.iter().filter(shown).cloned().collect(), order);
                    for limit in [1, 4, 100] {
                        assert_eq!(paged(&store, &filter, order, limit).await, expected, "{order:?} {state:?} {limit}");
                    }
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn sorted_list_respects_scope_and_filters() {
    on_every_engine(async |store| {
        many(&store).await;
        let order = SortOrder { by: SortBy::State, descending: false };
        let live = InstanceFilter::default();
        let filter = InstanceFilter { owner_email: Some(email("bob@example.org")), ..InstanceFilter::default() };
        let list = async |caller, filter| store.sorted_instances(&caller, filter, order, None, 100).await.unwrap();
        let owners = |rows: &[launcher_store::ListedInstance]| {
            let mut owners: Vec<_> = rows.iter().map(|listed| listed.instance.owner_email.to_string()).collect();
            owners.dedup();
            owners
        };
        assert_eq!(owners(&list(admin(), &filter).await), ["bob@example.org"]);
        assert_eq!(owners(&list(alice(), &live).await), ["alice@example.org"]);
        assert!(list(alice(), &filter).await.is_empty(), "a filter widens no scope");
        let elsewhere = InstanceFilter { template_id: Some(Uuid::from_u128(9)), ..InstanceFilter::default() };
        assert!(list(admin(), &elsewhere).await.is_empty());
        let queued = list(admin(), &live).await;
        assert_eq!(queued[0].queue_position, Some(7), "the newest of those that wait: {queued:#?}");
    })
    .await;
}

#[test]
fn invalid_cursor_is_rejected() {
    for text in ["", "x", "00000000-0000-0000-0000-000000000001 ", "00000000-0000-0000-0000-000000000001 nx"] {
        assert!(text.parse::<Cursor>().is_err(), "{text:?}");
    }
    assert!("00000000-0000-0000-0000-000000000001 ta\0b".parse::<Cursor>().is_err());
}

#[tokio::test]
async fn cursor_of_other_sort_order_restarts_the_list() {
    on_every_engine(async |store| {
        let rows = many(&store).await;
        let filter = InstanceFilter { state: StateFilter::All, ..InstanceFilter::default() };
        for by in ALL {
            let order = SortOrder { by, descending: true };
            let other =
                SortOrder { by: if by == SortBy::Owner { SortBy::End } else { SortBy::Owner }, descending: true };
            let foreign = match by {
                SortBy::Template => SortOrder::NEWEST.cursor(&rows[20]),
                _ => other.cursor(&rows[20]),
            };
            let list = async |after| store.sorted_instances(&admin(), &filter, order, after, 5).await.unwrap();
            assert_eq!(list(Some(&foreign)).await, list(None).await, "{by:?}");
        }
    })
    .await;
}
