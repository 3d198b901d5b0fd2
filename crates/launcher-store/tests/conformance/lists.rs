//! Filters, order, pages and queue positions of lists.

use launcher_domain::InstanceState;
use launcher_store::{InstanceFilter, Page, StateFilter};
use uuid::Uuid;

use crate::support::*;

#[tokio::test]
async fn pages_list_each_row_once_while_rows_change() {
    on_every_database(async |store, url| {
        let row = launched(&store, "alice@example.org").await;
        let mut expected = copy_instance(url, &row.k8s_name, 1200).await;
        expected.push(row.k8s_name);
        expected.reverse();

        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = Page { limit: 500, after };
            let rows = store.instances(&admin(), &InstanceFilter::default(), &page).await.unwrap();
            let Some(last) = rows.last() else { break };
            after = Some(last.instance.instance_id);
            // Change the list between two pages: add a newer row, and remove the last row of the previous page.
            launched(&store, "bob@example.org").await;
            ended(&store, &last.instance, 60).await;
            seen.extend(rows.into_iter().map(|listed| listed.instance.k8s_name));
        }
        assert_eq!(seen, expected);
    })
    .await;
}

#[tokio::test]
async fn state_filter_selects_matching_instances() {
    on_every_engine(async |store| {
        let mut rows = Vec::new();
        for state in InstanceState::ALL {
            let row = launched(&store, "alice@example.org").await;
            rows.push(changed(&store, &row, |row| row.state = state).await);
        }
        let states = async |state| {
            let filter = InstanceFilter { state, ..InstanceFilter::default() };
            let listed = store.instances(&alice(), &filter, &EVERYTHING).await.unwrap();
            listed.into_iter().rev().map(|listed| listed.instance.state).collect::<Vec<_>>()
        };

        use InstanceState::{Failed, Queued, Running, Starting, Suspended, Suspending, Terminated, Terminating};
        let live = [Queued, Starting, Running, Suspending, Suspended, Terminating, Failed];
        assert_eq!(states(StateFilter::Live).await, live);
        assert_eq!(states(StateFilter::Ended).await, [Terminated]);
        assert_eq!(states(StateFilter::All).await, InstanceState::ALL);
        for state in InstanceState::ALL {
            assert_eq!(states(StateFilter::Only(state)).await, [state]);
        }
    })
    .await;
}

#[tokio::test]
async fn outdated_filter_selects_running_outdated_instances_in_scope() {
    on_every_engine(async |store| {
        for (owner, state, outdated) in [
            ("alice@example.org", InstanceState::Running, true),
            ("alice@example.org", InstanceState::Running, false),
            ("alice@example.org", InstanceState::Terminating, true),
            ("bob@example.org", InstanceState::Running, true),
        ] {
            let row = launched(&store, owner).await;
            changed(&store, &row, |row| (row.state, row.outdated) = (state, outdated)).await;
        }
        let filter = InstanceFilter { state: StateFilter::Outdated, ..InstanceFilter::default() };
        for (caller, expected) in [(alice(), 1), (admin(), 2)] {
            let listed = store.instances(&caller, &filter, &EVERYTHING).await.unwrap();
            assert!(listed.iter().all(|row| row.instance.outdated && row.instance.state == InstanceState::Running));
            let count = store.count_instances(&caller, &filter).await.unwrap();
            assert_eq!((listed.len(), count.matches), (expected, u64::try_from(expected).unwrap()));
        }
    })
    .await;
}

#[tokio::test]
async fn template_and_owner_filters_combine() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        for owner in ["alice@example.org", "bob@example.org"] {
            for template in [1, 2] {
                let mut draft = instance(owner);
                draft.template_id = Uuid::from_u128(template);
                created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
            }
        }
        let count = async |owner: Option<&str>, template: Option<u128>| {
            let filter = InstanceFilter {
                owner_email: owner.map(email),
                template_id: template.map(Uuid::from_u128),
                ..InstanceFilter::default()
            };
            store.instances(&admin(), &filter, &EVERYTHING).await.unwrap().len()
        };

        assert_eq!(count(None, Some(2)).await, 2);
        assert_eq!(count(Some("bob@example.org"), None).await, 2);
        assert_eq!(count(Some("bob@example.org"), Some(2)).await, 1);
        assert_eq!(count(Some("bob@example.org"), Some(3)).await, 0);
    })
    .await;
}

#[tokio::test]
async fn queue_position_follows_launch_order() {
    on_every_engine(async |store| {
        let first = launched(&store, "alice@example.org").await;
        let second = launched(&store, "bob@example.org").await;
        // This instance is launched last but has the oldest identifier, as from a replica with a slow clock.
        let mut draft = instance("alice@example.org");
        draft.instance_id = Uuid::nil();
        let third = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        let position = async |row: &launcher_domain::Instance| {
            store.instance(&admin(), &row.k8s_name).await.unwrap().unwrap().queue_position
        };
        let positions = [position(&first).await, position(&second).await, position(&third).await];
        assert_eq!(positions, [Some(1), Some(2), Some(3)]);

        let listed = store.instances(&alice(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
        assert_eq!(listed.iter().map(|row| row.queue_position).collect::<Vec<_>>(), [Some(1), Some(3)]);
        ended(&store, &first, 60).await;
        let positions = [position(&first).await, position(&second).await, position(&third).await];
        assert_eq!(positions, [None, Some(1), Some(2)]);
    })
    .await;
}
