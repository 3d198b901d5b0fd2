//! Tests of launches, sequential and concurrent.

use launcher_domain::{EndReason, Instance, InstanceState, Report};
use launcher_store::{IdempotencyKey, InstanceFilter, LaunchOutcome, LaunchRules, Store, StoreError};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::support::*;

async fn launch_at_once(
    store: &Store,
    drafts: Vec<Instance>,
    rules: LaunchRules,
    key: Option<&IdempotencyKey>,
) -> Vec<LaunchOutcome> {
    let (mut tasks, mut outcomes) = (JoinSet::new(), Vec::new());
    for draft in drafts {
        // The last of more launches would wait for the database longer than the store permits.
        if tasks.len() == AT_ONCE {
            outcomes.push(tasks.join_next().await.unwrap().unwrap());
        }
        let (store, key) = (store.clone(), key.cloned());
        tasks.spawn(async move { store.launch_own(&draft, &rules, key.as_ref()).await.unwrap() });
    }
    outcomes.extend(tasks.join_all().await);
    outcomes
}

#[tokio::test]
async fn new_launch_is_stored_as_queued() {
    on_every_engine(async |store| {
        let mut draft = instance("alice@example.org");
        draft.state = InstanceState::Running;
        draft.report.url = Some("https://example.org/".to_owned());
        let launched = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());

        let expected =
            Instance { state: InstanceState::Queued, report: Report::default(), revision: launched.revision, ..draft };
        assert_eq!(launched, expected);
        assert!(launched.revision > 0);
        assert_eq!(store.observe_instance(&launched.k8s_name).await.unwrap(), Some(launched));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_keep_the_instance_limit() {
    on_every_engine(async |store| {
        let drafts = (0..500).map(|_| instance("alice@example.org")).collect();
        let rules = LaunchRules { max_per_user: Some(1), max_queued: 1000, ..NO_LIMITS };
        let outcomes = launch_at_once(&store, drafts, rules, None).await;

        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        let full = LaunchOutcome::LimitReached { limit: 1, held: 1, ending: 0 };
        let refused = outcomes.iter().filter(|outcome| **outcome == full);
        assert_eq!((created, refused.count()), (1, 499));
        assert_eq!(store.instances(&admin(), &InstanceFilter::default(), &EVERYTHING).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_keep_the_queue_limit() {
    on_every_engine(async |store| {
        let drafts = (0..60).map(|number| instance(&format!("user{number}@example.org"))).collect();
        let rules = LaunchRules { max_per_user: Some(3), max_queued: 10, ..NO_LIMITS };
        let outcomes = launch_at_once(&store, drafts, rules, None).await;

        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        let refused = outcomes.iter().filter(|outcome| **outcome == LaunchOutcome::AtCapacity).count();
        assert_eq!((created, refused), (10, 50));
    })
    .await;
}

#[tokio::test]
async fn instance_limit_counts_only_unfinished_instances_of_the_owner() {
    on_every_engine(async |store| {
        let rules = LaunchRules { max_per_user: Some(0), ..NO_LIMITS };
        let (mut held, mut ending) = (0, 0);
        for state in InstanceState::ALL {
            for end_reason in [None, Some(EndReason::Owner), Some(EndReason::Expired), Some(EndReason::Failed)] {
                let row = launched(&store, "alice@example.org").await;
                let row = changed(&store, &row, |row| (row.state, row.end_reason) = (state, end_reason)).await;
                launched(&store, "bob@example.org").await;
                held += u32::from(row.counts_against_limit());
                let is_ending = matches!(state, InstanceState::Suspending | InstanceState::Terminating);
                ending += u32::from(row.counts_against_limit() && is_ending);
                let refused = store.launch_own(&instance("alice@example.org"), &rules, None).await.unwrap();
                let expected = LaunchOutcome::LimitReached { limit: 0, held, ending };
                assert_eq!(refused, expected, "{state:?} {end_reason:?}");
            }
        }
        assert_eq!(ending, 6);
    })
    .await;
}

#[tokio::test]
async fn terminating_instance_counts_against_the_limit() {
    on_every_engine(async |store| {
        let rules = LaunchRules { max_per_user: Some(1), ..NO_LIMITS };
        let launch = async || store.launch_own(&instance("alice@example.org"), &rules, None).await.unwrap();
        let row = created(launch().await);
        let row = changed(&store, &row, |row| row.state = InstanceState::Running).await;
        assert_eq!(launch().await, LaunchOutcome::LimitReached { limit: 1, held: 1, ending: 0 });
        let ending = row.terminate(EndReason::Owner, at(10)).unwrap();
        let ending = store.change_instance(&row, &ending, &by_the_service()).await.unwrap().unwrap();
        assert_eq!(launch().await, LaunchOutcome::LimitReached { limit: 1, held: 1, ending: 1 });
        let gone = ending.workshop_gone(at(20)).unwrap();
        store.change_instance(&ending, &gone, &by_the_service()).await.unwrap().unwrap();
        created(launch().await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_with_same_key_create_one_instance() {
    on_every_engine(async |store| {
        let drafts = (0..100).map(|_| instance("alice@example.org")).collect();
        let rules = LaunchRules { max_per_user: Some(1), max_queued: 100, ..NO_LIMITS };
        let outcomes = launch_at_once(&store, drafts, rules, Some(&key("key", "hash"))).await;

        let row = store.instances(&alice(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
        let [only] = row.as_slice() else { panic!("{} rows", row.len()) };
        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        let replayed = outcomes.iter().filter(|outcome| **outcome == LaunchOutcome::Replayed(only.instance.clone()));
        assert_eq!((created, replayed.count()), (1, 99));
    })
    .await;
}

#[tokio::test]
async fn idempotency_key_is_bound_to_caller_and_body() {
    on_every_engine(async |store| {
        let launch = async |owner, key: IdempotencyKey| {
            store.launch_own(&instance(owner), &NO_LIMITS, Some(&key)).await.unwrap()
        };
        let first = created(launch("alice@example.org", key("key", "hash")).await);
        assert_eq!(launch("alice@example.org", key("key", "other")).await, LaunchOutcome::KeyReused);
        let his = created(launch("bob@example.org", key("key", "other")).await);
        assert_ne!(his.k8s_name, first.k8s_name);

        let ended = ended(&store, &first, 60).await;
        assert_eq!(launch("alice@example.org", key("key", "hash")).await, LaunchOutcome::Replayed(ended));
    })
    .await;
}

#[tokio::test]
async fn idempotency_key_of_refused_launch_stays_unused() {
    on_every_engine(async |store| {
        let key = key("key", "hash");
        let closed = LaunchRules { max_per_user: Some(0), max_queued: 100, ..NO_LIMITS };
        let full = LaunchRules { max_per_user: None, max_queued: 0, ..NO_LIMITS };
        let launch = async |rules| store.launch_own(&instance("alice@example.org"), rules, Some(&key)).await.unwrap();
        let before = store.feed_latest().await.unwrap();
        assert_eq!(launch(&closed).await, LaunchOutcome::LimitReached { limit: 0, held: 0, ending: 0 });
        assert_eq!(launch(&full).await, LaunchOutcome::AtCapacity);
        assert_eq!(store.feed_latest().await.unwrap(), before, "what was refused changed nothing");
        created(launch(&NO_LIMITS).await);
    })
    .await;
}

#[tokio::test]
async fn launch_with_taken_name_can_be_retried_with_same_key() {
    on_every_engine(async |store| {
        let taken = launched(&store, "bob@example.org").await;
        let mut draft = instance("alice@example.org");
        let free = std::mem::replace(&mut draft.k8s_name, taken.k8s_name);
        let key = key("key", "hash");
        assert_eq!(store.launch_own(&draft, &NO_LIMITS, Some(&key)).await.unwrap(), LaunchOutcome::NameTaken);
        draft.k8s_name = free;
        created(store.launch_own(&draft, &NO_LIMITS, Some(&key)).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn launch_of_unknown_template_is_refused() {
    on_every_engine(async |store| {
        let mut draft = instance("alice@example.org");
        draft.template_id = Uuid::from_u128(404);
        let refused = store.launch_own(&draft, &NO_LIMITS, None).await;
        assert!(matches!(refused, Err(StoreError::Other(_))), "{refused:?}");
        assert_eq!(store.observe_instance(&draft.k8s_name).await.unwrap(), None);
    })
    .await;
}
