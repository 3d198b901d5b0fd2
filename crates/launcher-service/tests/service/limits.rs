//! Limits of one person. They also hold if the person launches and deletes instances repeatedly.

use std::collections::BTreeMap;
use std::time::Duration;

use launcher_domain::{FailureCode, InstanceState, JsonObject};
use launcher_service::{LaunchRequest, Limits, ServiceError};
use launcher_store::ActivityFilter;
use launcher_testkit::eventually;
use serde_json::json;
use sqlx::{AnyConnection, Connection, Row};

use crate::{World, body, caller, database, measured, with};

/// Size of a template's environment, in bytes.
const LARGE: i64 = 200_000;

fn large_body() -> JsonObject {
    let value = "x".repeat(usize::try_from(LARGE).unwrap() / 50);
    let env: BTreeMap<String, String> = (0..50).map(|number| (format!("VAR_{number}"), value.clone())).collect();
    with(body("Large"), &json!({ "env": env }))
}

/// Returns the size of the database in bytes: number of pages times page size.
async fn size(world: &World) -> i64 {
    let mut connection = AnyConnection::connect(&database(&world.directory)).await.unwrap();
    let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    let size = sqlx::query(size).fetch_one(&mut connection).await.unwrap().get(0);
    connection.close().await.unwrap();
    size
}

/// Returns the number of instances that have not ended.
async fn live(world: &World) -> u64 {
    let counts = world.store.count_states().await.unwrap();
    counts.iter().filter(|(state, _)| *state != InstanceState::Terminated).map(|(_, count)| count).sum()
}

#[tokio::test]
async fn terminating_instance_counts_against_the_limit() {
    let world = World::with(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let (alice, admin, template) = (caller("alice"), caller("admin"), world.template().await.template_id);
    let running = world.running(&alice).await;
    world.fleet.hold_deletions();
    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    for _ in 0..30 {
        let refused = world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap_err();
        assert!(matches!(refused, ServiceError::InstanceLimitReached { limit: 1, held: 1, ending: 1 }), "{refused}");
        assert!(refused.to_string().contains("still ending"), "{refused}");
    }
    assert_eq!(world.fleet.names(), [running.k8s_name.as_str()]);
    world.launcher.launch(&admin, template, &LaunchRequest::default()).await.unwrap();
    world.fleet.remove_workshop(&running.k8s_name);
    world.until(&running.k8s_name, InstanceState::Terminated).await;
    world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap();
}

#[tokio::test]
async fn refusal_at_the_limit_advises_to_end_a_running_workshop() {
    let world = World::with(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let (alice, template) = (caller("alice"), world.template().await.template_id);
    world.running(&alice).await;
    let refused = world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap_err();
    assert!(matches!(refused, ServiceError::InstanceLimitReached { limit: 1, held: 1, ending: 0 }), "{refused}");
    assert!(refused.to_string().contains("end one of them first"), "{refused}");
}

#[tokio::test]
async fn dismissed_failure_does_not_count_against_the_limit() {
    let world = World::with(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.fleet.hold_deletions();
    world.fleet.fail(&running.k8s_name, FailureCode::Crashed, "");
    world.until(&running.k8s_name, InstanceState::Failed).await;
    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    world.until(&running.k8s_name, InstanceState::Terminating).await;
    world.launch(&alice).await;
}

#[tokio::test]
async fn repeated_launch_and_delete_is_refused_after_the_burst() {
    let limits = Limits { max_instances_per_user: 1, launch_rate: 6, launch_burst: 20, ..Limits::default() };
    let world = World::with(limits).await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let template = world.launcher.create_template(&admin, &large_body()).await.unwrap().template_id;
    let before = size(&world).await;
    let (mut created, mut refused) = (0, 0);
    for _ in 0..60 {
        match world.launcher.launch(&alice, template, &LaunchRequest::default()).await {
            Ok(launched) => {
                created += 1;
                let name = launched.listed.instance.k8s_name;
                world.launcher.terminate(&alice, &name).await.unwrap();
                assert!(live(&world).await <= 1 && world.fleet.names().len() <= 1);
                world.until(&name, InstanceState::Terminated).await;
            }
            Err(ServiceError::TooManyLaunches { retry_after: 1..=10 }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((created, refused), (20, 40));
    let grown = size(&world).await - before;
    assert!(grown < 2 * LARGE, "20 launches of 200 kB of settings took {grown} bytes");
    assert!(measured(&world.launcher).contains("launcher_launches_refused_total 40"));

    world.clock.advance(Duration::from_secs(10));
    world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap();
    for _ in 0..=limits.launch_burst {
        world.launcher.launch(&admin, template, &LaunchRequest::default()).await.unwrap();
    }
}

#[tokio::test]
async fn upkeep_of_a_launcher_whose_clock_is_ahead_permits_no_launch() {
    let mut world = World::with(Limits { launch_rate: 1, launch_burst: 1, ..Limits::default() }).await;
    let alice = caller("alice");
    let template = world.launcher.create_template(&caller("admin"), &body("Course")).await.unwrap().template_id;
    world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap();
    let right = std::mem::take(&mut world.clock);
    world.clock.advance(Duration::from_secs(1800));
    world.kill().await;
    world.upkeep_round().await;

    world.clock = right;
    world.kill().await;
    let again = world.launcher.launch(&alice, template, &LaunchRequest::default()).await;
    assert!(matches!(again, Err(ServiceError::TooManyLaunches { .. })));
}

#[tokio::test]
async fn launch_terminated_in_queue_is_purged_early_but_stays_in_activity_log() {
    let mut world = World::with(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let dispatched = world.running(&admin).await.k8s_name;
    world.launcher.terminate(&admin, &dispatched).await.unwrap();
    world.until(&dispatched, InstanceState::Terminated).await;
    let first = world.launch(&admin).await.k8s_name;
    world.until(&first, InstanceState::Starting).await;
    let withdrawn = world.launch(&alice).await.k8s_name;
    world.launcher.terminate(&alice, &withdrawn).await.unwrap();
    let waiting = world.launch(&alice).await.k8s_name;
    world.kill().await;
    world.clock.advance(Duration::from_secs(3610));
    world.start();
    eventually(async || world.launcher.instance(&alice, &withdrawn).await.err()).await;
    world.stop().await;
    world.launcher.instance(&alice, &waiting).await.unwrap();
    world.launcher.instance(&admin, &dispatched).await.unwrap();
    let filter = ActivityFilter { subject: Some(withdrawn), ..ActivityFilter::default() };
    let page = launcher_service::Page { limit: 10, after: None };
    assert_eq!(world.launcher.activities(&admin, &filter, &page).await.unwrap().len(), 2);
}
