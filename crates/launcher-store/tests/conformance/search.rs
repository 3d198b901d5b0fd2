//! Search in lists of instances, and their numbers.

use launcher_domain::InstanceState;
use launcher_store::{InstanceFilter, Page, SearchText, SortBy, SortOrder, StateFilter};
use uuid::Uuid;

use crate::support::*;

fn searched(text: &str) -> InstanceFilter {
    InstanceFilter { search: SearchText::new(text), ..InstanceFilter::default() }
}

#[test]
fn search_text_is_trimmed_and_bounded() {
    assert_eq!(SearchText::new("  "), None);
    assert_eq!(SearchText::new(" a b ").unwrap().as_str(), "a b");
    assert_eq!(SearchText::new(&"ü".repeat(200)).unwrap().as_str(), "ü".repeat(100));
}

#[tokio::test]
async fn search_finds_parts_of_owner_template_and_name_literally() {
    on_every_engine(async |store| {
        let mut rows = Vec::new();
        for (owner, name) in [
            ("alice@example.org", "Statistics 100%"),
            ("bob_b@example.org", "Statistics 1000"),
            ("bobxb@example.org", "Kärten_1!\\ 'x'"),
        ] {
            let mut draft = instance(owner);
            draft.settings.name = name.to_owned();
            rows.push(created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap()));
        }
        let found = async |text: &str| {
            let listed = store.instances(&admin(), &searched(text), &EVERYTHING).await.unwrap();
            let sorted = SortOrder { by: SortBy::Owner, descending: false };
            let same = store.sorted_instances(&admin(), &searched(text), sorted, None, 100).await.unwrap();
            let mut owners: Vec<String> = listed.iter().map(|row| row.instance.owner_email.to_string()).collect();
            owners.sort();
            assert_eq!(same.iter().map(|row| row.instance.owner_email.to_string()).collect::<Vec<_>>(), owners);
            let count = store.count_instances(&admin(), &searched(text)).await.unwrap();
            assert_eq!((count.matches, count.is_complete), (owners.len() as u64, true));
            owners.into_iter().map(|owner| owner.replace("@example.org", "")).collect::<Vec<_>>()
        };
        assert_eq!(found("ALICE@").await, ["alice"]);
        assert_eq!(found("b_b").await, ["bob_b"]);
        assert_eq!(found("100%").await, ["alice"]);
        assert_eq!(found("tistics 100").await, ["alice", "bob_b"]);
        assert_eq!(found("ärten_1!\\ 'X'").await, ["bobxb"]);
        assert_eq!(found("EXAMPLE.org").await, ["alice", "bob_b", "bobxb"]);
        assert_eq!(found(&rows[1].k8s_name[5..]).await, ["bob_b"]);
        for text in ["%", "_"] {
            let marks = found(text).await;
            assert!(!marks.is_empty() && marks.len() < 3, "{text}: {marks:?}");
        }
        assert!(found("nothing like this").await.is_empty());
        assert!(found("a\0b").await.is_empty());
        let by_bob = store.instances(&bob(), &searched("example"), &EVERYTHING).await.unwrap();
        assert!(by_bob.is_empty(), "a search stays within the scope of its caller");
    })
    .await;
}

#[tokio::test]
async fn search_combines_with_pages_filters_and_orders() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        let mut names = Vec::new();
        for number in 0..6 {
            let mut draft = instance(if number % 2 == 0 { "even@example.org" } else { "odd@example.org" });
            draft.template_id = Uuid::from_u128(if number < 4 { 1 } else { 2 });
            names.push(created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap()).k8s_name);
        }
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = store.instances(&admin(), &searched("even"), &Page { limit: 2, after }).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.instance.instance_id);
            paged.extend(page.into_iter().map(|row| row.instance.k8s_name));
        }
        assert_eq!(paged, [&names[4], &names[2], &names[0]].map(Clone::clone));

        for by in [SortBy::Launch, SortBy::Template, SortBy::State, SortBy::End] {
            let order = SortOrder { by, descending: false };
            let (mut sorted, mut after) = (Vec::new(), None);
            loop {
                let filter = searched("even");
                let page = store.sorted_instances(&admin(), &filter, order, after.as_ref(), 1).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(order.cursor(&last.instance));
                sorted.extend(page.into_iter().map(|row| row.instance.k8s_name));
            }
            sorted.sort();
            assert_eq!(sorted, [&names[0], &names[2], &names[4]].map(Clone::clone), "{by:?}");
        }
        let of_template = InstanceFilter { template_id: Some(Uuid::from_u128(2)), ..searched("even") };
        assert_eq!(store.count_instances(&admin(), &of_template).await.unwrap().matches, 1);
        let terminated = InstanceFilter { state: StateFilter::Ended, ..searched("even") };
        assert_eq!(store.count_instances(&admin(), &terminated).await.unwrap().matches, 0);
        assert_eq!(store.count_instances(&admin(), &InstanceFilter::default()).await.unwrap().matches, 6);
    })
    .await;
}

#[tokio::test]
async fn search_and_its_count_examine_only_the_newest_instances_of_the_other_filters() {
    on_every_engine(async |store| {
        let store = store.examining_at_most(3);
        let mut names = Vec::new();
        for owner in ["needle", "hay", "needle", "hay", "needle", "hay"] {
            let row = launched(&store, &format!("{owner}@example.org")).await;
            names.push(row.k8s_name.clone());
            ended(&store, &row, 60).await;
            // Instances that do not match the rest of the filter do not count.
            launched(&store, "needle@example.com").await;
        }
        let ended = InstanceFilter { state: StateFilter::Ended, ..searched("needle") };
        let found = async |filter: &InstanceFilter, after| {
            let rows = store.instances(&admin(), filter, &Page { limit: 10, after }).await.unwrap();
            for by in [SortBy::Launch, SortBy::Owner] {
                let order = SortOrder { by, descending: true };
                let sorted = store.sorted_instances(&admin(), filter, order, None, 10).await.unwrap();
                assert!(after.is_some() || sorted == rows, "{by:?}: {sorted:#?}");
            }
            rows
        };
        let newest = found(&ended, None).await;
        assert_eq!(newest.iter().map(|row| &row.instance.k8s_name).collect::<Vec<_>>(), [&names[4]]);
        let older = found(&ended, Some(newest[0].instance.instance_id)).await;
        assert!(older.is_empty(), "the next page does not examine older instances: {older:#?}");
        let count = store.count_instances(&admin(), &ended).await.unwrap();
        assert_eq!((count.matches, count.is_complete), (1, false));

        // An instance that an owner's search examines may be older than the newest of all owners.
        let of_owner = InstanceFilter { owner_email: Some(email("needle@example.org")), ..ended.clone() };
        assert_eq!(found(&of_owner, None).await.len(), 3);
        let count = store.count_instances(&admin(), &of_owner).await.unwrap();
        assert_eq!((count.matches, count.is_complete), (3, true));
        let mine = store.instances(&caller("needle@example.org"), &ended, &EVERYTHING).await.unwrap();
        assert_eq!(mine.len(), 3, "an instance of another owner does not count");

        let all_ended = InstanceFilter { search: None, ..ended };
        let all = store.instances(&admin(), &all_ended, &EVERYTHING).await.unwrap();
        assert_eq!(all.len(), 6, "a list without search has no bound");
    })
    .await;
}

#[tokio::test]
async fn current_instances_of_a_template_are_counted_by_state() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        for state in InstanceState::ALL {
            let row = launched(&store, "alice@example.org").await;
            changed(&store, &row, |row| row.state = state).await;
        }
        launched(&store, "bob@example.org").await;
        let mut counts = store.count_template_states(&admin(), Uuid::from_u128(1)).await.unwrap();
        counts.sort_by_key(|(state, _)| InstanceState::ALL.iter().position(|known| known == state));
        let current = InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Terminated);
        let expected = current.map(|state| (state, 1 + u64::from(state == InstanceState::Queued)));
        assert_eq!(counts, expected.collect::<Vec<_>>());
        assert!(store.count_template_states(&admin(), Uuid::from_u128(2)).await.unwrap().is_empty());
        assert_eq!(
            store.count_template_states(&bob(), Uuid::from_u128(1)).await.unwrap(),
            [(InstanceState::Queued, 1)]
        );
    })
    .await;
}
