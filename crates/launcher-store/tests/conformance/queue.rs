//! Tests of the order of the queue: classes that wait share the starts by their weights.

use std::collections::BTreeMap;

use launcher_domain::{ClassLimits, Instance, Report, StartStep, Template};
use launcher_store::{LaunchOutcome, LaunchRules, Store};
use uuid::Uuid;

use crate::support::*;

/// Class 0 is the shared catalog.
async fn create_templates(store: &Store, classes: u128) {
    for number in 1..classes {
        let class = crate::classes::class(number);
        let teacher = crate::classes::membership(
            &class,
            "alice@example.org",
            launcher_domain::MemberSource::Roster,
            launcher_domain::ClassRole::Teacher,
        );
        store.create_class(&class, &[teacher], &[], &admin(), None).await.unwrap();
        let template = Template { class_id: Some(class.class_id), ..template(100 + number) };
        assert!(store.create_template(&template, None).await.unwrap());
    }
}

/// Launches in a class. Returns the identifier of the instance.
async fn launch(store: &Store, class: u128, queue_weight: u32) -> Uuid {
    let limits = ClassLimits {
        class_id: Uuid::from_u128(class),
        max_workshops: None,
        max_of_owner: None,
        needs_member: false,
        queue_weight,
    };
    let rules = LaunchRules { class: (class > 0).then_some(limits), ..NO_LIMITS };
    let mut launched = instance("alice@example.org");
    if class > 0 {
        launched.template_id = Uuid::from_u128(100 + class);
    }
    created(store.launch_own(&launched, &rules, None).await.unwrap()).instance_id
}

/// Starts one more queued instance, if there is one.
async fn start(store: &Store, started: &mut u32) -> Option<Uuid> {
    *started += 1;
    let promoted = store.dispatch_promote_queued(*started, at(1)).await.unwrap();
    assert!(promoted.len() <= 1);
    promoted.first().map(|instance| instance.instance_id)
}

#[tokio::test]
async fn class_of_12_does_not_wait_behind_a_class_of_200() {
    on_every_engine(async |store| {
        create_templates(&store, 3).await;
        let mut started = 0;
        for _ in 0..200 {
            launch(&store, 1, 1).await;
        }
        for _ in 0..10 {
            start(&store, &mut started).await.unwrap();
        }
        let mut shared = Vec::new();
        for _ in 0..5 {
            shared.push(launch(&store, 0, 1).await);
        }
        let mut small = Vec::new();
        for _ in 0..12 {
            small.push(launch(&store, 2, 1).await);
        }
        let (mut order, mut waits) = (Vec::new(), BTreeMap::new());
        while let Some(next) = start(&store, &mut started).await {
            waits.insert(next, order.len() + 1);
            order.push(next);
        }
        assert_eq!(order.len(), 190 + 5 + 12);
        // Each of the three takes turns: the small class has at most two others' starts before each of its own. In the order
        // of the launches, its last one would wait for 206 others.
        let wait = |of: &[Uuid]| of.iter().map(|instance| waits[instance]).collect::<Vec<_>>();
        assert!(wait(&shared).iter().zip(1..).all(|(wait, turn)| *wait <= 3 * turn), "{:?}", wait(&shared));
        assert!(wait(&small).iter().zip(1..).all(|(wait, turn)| *wait <= 3 * turn), "{:?}", wait(&small));
        assert!(wait(&small).is_sorted() && wait(&shared).is_sorted());
    })
    .await;
}

/// Returns the next value of a small generator (Knuth, MMIX).
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 40).unwrap()
}

/// While two classes wait without a pause, their starts divided by their weights differ by at most one launch of each: the
/// bound of start-time fair queueing. Each class starts its launches in their order.
#[tokio::test]
async fn waiting_classes_share_the_starts_by_their_weights() {
    on_every_engine(async |store| {
        create_templates(&store, 5).await;
        let mut started = 0;
        for seed in 0..8 {
            let mut random = seed;
            let weights: Vec<u32> = (0..5)
                .map(|class| if class == 0 { 1 } else { u32::try_from(next(&mut random) % 10).unwrap() + 1 })
                .collect();
            let mut waiting: Vec<Vec<Uuid>> = vec![Vec::new(); 5];
            // Starts of a class since a pair of classes waits, by the pair.
            let mut counts: BTreeMap<(usize, usize), [f64; 2]> = BTreeMap::new();
            for _ in 0..120 {
                if next(&mut random) % 5 < 3 {
                    let class = next(&mut random) % 5;
                    waiting[class].push(launch(&store, class as u128, weights[class]).await);
                    continue;
                }
                let Some(next) = start(&store, &mut started).await else {
                    started -= 1;
                    continue;
                };
                let class = waiting.iter().position(|queue| queue.first() == Some(&next)).expect("out of order");
                for (pair, count) in &mut counts {
                    let place = usize::from(pair.0 != class);
                    if pair.0 == class || pair.1 == class {
                        count[place] += 1.0 / f64::from(weights[class]);
                        let bound = 1.0 / f64::from(weights[pair.0]) + 1.0 / f64::from(weights[pair.1]);
                        assert!((count[0] - count[1]).abs() <= bound + 1e-9, "seed {seed}, {pair:?}: {count:?}");
                    }
                }
                waiting[class].remove(0);
                counts.retain(|(one, other), _| !waiting[*one].is_empty() && !waiting[*other].is_empty());
                let busy: Vec<usize> = (0..5).filter(|class| !waiting[*class].is_empty()).collect();
                for (place, one) in busy.iter().enumerate() {
                    for other in &busy[place + 1..] {
                        counts.entry((*one, *other)).or_default();
                    }
                }
            }
            while start(&store, &mut started).await.is_some() {}
            started -= 1;
        }
    })
    .await;
}

#[tokio::test]
async fn namespace_whose_quota_is_full_is_held_and_its_waiting_instance_does_not_count() {
    on_every_engine(async |store| {
        let launch_within = async |namespace: Option<&str>, max_queued| {
            let namespace = namespace.map(str::to_owned);
            let launched = Instance { namespace, ..instance("alice@example.org") };
            store.launch_own(&launched, &LaunchRules { max_queued, ..NO_LIMITS }, None).await.unwrap()
        };
        let launch = async |namespace| created(launch_within(namespace, u32::MAX).await);
        let promoted = async || -> Vec<Uuid> {
            let promoted = store.dispatch_promote_queued(1, at(1)).await.unwrap();
            promoted.into_iter().map(|instance| instance.instance_id).collect()
        };
        let report = |start_step| Report { start_step: Some(start_step), ..Report::default() };
        let first = launch(Some("a")).await;
        assert_eq!(promoted().await, [first.instance_id]);
        let first = store.observe_instance(&first.k8s_name).await.unwrap().unwrap();
        assert_eq!(first.namespace.as_deref(), Some("a"));
        let waiting = changed(&store, &first, |row| row.report = report(StartStep::WaitingForQuota)).await;
        let held = launch(Some("a")).await;
        assert!(promoted().await.is_empty());
        assert_eq!(launch_within(Some("a"), 1).await, LaunchOutcome::AtCapacity);
        // Each namespace has a limit of its own.
        let others = [created(launch_within(Some("b"), 1).await), created(launch_within(None, 1).await)];
        for other in others {
            assert_eq!(promoted().await, [other.instance_id]);
            let started = store.observe_instance(&other.k8s_name).await.unwrap().unwrap();
            assert!(promoted().await.is_empty(), "it counts");
            changed(&store, &started, |row| row.state = launcher_domain::InstanceState::Running).await;
        }
        let starting = changed(&store, &waiting, |row| row.report = report(StartStep::Preparing)).await;
        assert!(promoted().await.is_empty(), "it counts again");
        changed(&store, &starting, |row| row.state = launcher_domain::InstanceState::Running).await;
        assert_eq!(promoted().await, [held.instance_id]);
    })
    .await;
}
