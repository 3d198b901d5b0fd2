use std::time::Duration;

use launcher_domain::lifetime::Bound;
use launcher_domain::{ActivityAction, EndReason, FailureCode, InstanceState, TemplateContent};
use launcher_service::{ActivityFilter, LaunchRequest, Page, TemplateUpdate};
use launcher_testkit::eventually;

use crate::{World, body, caller};

const PAGE: Page<i64> = Page { limit: 100, after: None };

/// Returns the activity log, oldest first. Each line has the actor (`-` for the service), the action and the detail.
async fn told(world: &World) -> Vec<String> {
    let entries = world.launcher.activities(&caller("admin"), &ActivityFilter::default(), &PAGE).await.unwrap();
    let entry = |entry: launcher_service::LoggedActivity| {
        let entry = entry.activity;
        let who = entry.act.actor_email.as_ref().map_or("-", |email| email.as_str().split('@').next().unwrap());
        format!("{who} {} {}", entry.action.as_str(), entry.detail.unwrap_or_default()).trim_end().to_owned()
    };
    entries.into_iter().rev().map(entry).collect()
}

#[tokio::test]
async fn repeated_requests_write_one_activity_log_entry() {
    let world = World::new().await;
    let (alice, admin) = (caller("alice"), caller("admin"));
    let running = world.running(&alice).await;
    let name = &running.k8s_name;
    let extended = world.launcher.extend(&alice, name, running.expires_at, Bound::Maximum).await.unwrap().instance;
    world.launcher.extend(&alice, name, running.expires_at, Bound::Maximum).await.unwrap_err();
    for _ in 0..2 {
        world.launcher.terminate(&admin, name).await.unwrap();
    }
    world.until(name, InstanceState::Terminated).await;
    world.launcher.terminate(&alice, name).await.unwrap();
    let again = LaunchRequest { idempotency_key: Some("key".to_owned()), ..LaunchRequest::default() };
    for _ in 0..2 {
        world.launcher.launch(&alice, running.template_id, &again).await.unwrap();
    }
    let until = format!("alice extended {:.3}", extended.expires_at.unwrap());
    let expected = ["admin template-created", "alice launched", until.as_str(), "admin ended admin", "alice launched"];
    assert_eq!(told(&world).await, expected);
}

#[tokio::test]
async fn expiry_and_failure_reported_by_fleet_are_logged_without_actor() {
    let world = World::new().await;
    let alice = caller("alice");
    let template = world.template().await.template_id;
    let launch = async || {
        let launched = world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap();
        let name = launched.listed.instance.k8s_name;
        world.workshop(&name).await;
        world.fleet.ready(&name);
        world.until(&name, InstanceState::Running).await.k8s_name
    };
    let expired = launch().await;
    world.fleet.expire(&expired);
    assert_eq!(world.until(&expired, InstanceState::Terminated).await.end_reason, Some(EndReason::Expired));
    let lost = launch().await;
    world.fleet.remove_workshop(&lost);
    world.until(&lost, InstanceState::Terminated).await;
    let failed = launch().await;
    world.fleet.fail(&failed, FailureCode::OutOfMemory, "Killed");
    world.until(&failed, InstanceState::Failed).await;
    world.launcher.terminate(&alice, &failed).await.unwrap();
    world.until(&failed, InstanceState::Terminated).await;
    let expected = [
        "admin template-created",
        "alice launched",
        "- ended expired",
        "alice launched",
        "- ended lost",
        "alice launched",
        "- failed out-of-memory",
        "alice dismissed",
    ];
    assert_eq!(told(&world).await, expected);
}

#[tokio::test]
async fn template_update_without_changes_is_not_logged() {
    let world = World::new().await;
    let admin = caller("admin");
    let template = world.template().await;
    let id = template.template_id;
    let update = async |body| {
        world.launcher.update_template(&admin, id, TemplateUpdate { body, expected_version: None }).await.unwrap()
    };
    update(TemplateContent::from(&template).to_json()).await;
    update(body("Renamed")).await;
    for _ in 0..2 {
        world.launcher.archive_template(&admin, id, None).await.unwrap();
    }
    update(body("Renamed")).await;
    world.launcher.archive_template(&admin, id, Some(1)).await.unwrap_err();
    let expected =
        ["admin template-created", "admin template-changed name", "admin template-archived", "admin template-restored"];
    assert_eq!(told(&world).await, expected);
}

#[tokio::test]
async fn activity_log_is_purged_after_the_history_limit() {
    let mut world = World::new().await;
    world.launch(&caller("alice")).await;
    world.kill().await;
    world.clock.advance(world.limits.history - Duration::from_secs(3600));
    world.launch(&caller("bob")).await;
    world.clock.advance(Duration::from_secs(7200));
    world.start();
    eventually(async || {
        let entries = world.launcher.activities(&caller("admin"), &ActivityFilter::default(), &PAGE).await.unwrap();
        let launched = entries.iter().filter(|entry| entry.activity.action == ActivityAction::Launched);
        let by: Vec<_> = launched.filter_map(|entry| entry.activity.act.actor_email.as_ref()).collect();
        (by == [caller("bob").email()]).then_some(())
    })
    .await;
}
