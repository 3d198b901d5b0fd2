//! All instances of one template: their numbers, and their common extension.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::lifetime::{Bound, ExtendError, ExtensionOutcome};
use launcher_domain::{ActivityAction, Clock, Instance, InstanceState, TemplateContent};
use launcher_service::{ActivityFilter, LaunchRequest, Page, ServiceError, TemplateUpdate};
use launcher_testkit::eventually;
use uuid::Uuid;

use crate::{World, caller};

async fn running(world: &World, template: Uuid, who: &str) -> Instance {
    let launched = world.launcher.launch(&caller(who), template, &LaunchRequest::default()).await.unwrap();
    let name = launched.listed.instance.k8s_name;
    world.workshop(&name).await;
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await
}

fn later(from: Timestamp, seconds: i64) -> Timestamp {
    from + SignedDuration::from_secs(seconds)
}

async fn extensions(world: &World) -> Vec<(String, String)> {
    let page = Page { limit: 100, after: None };
    let entries = world.launcher.activities(&caller("admin"), &ActivityFilter::default(), &page).await.unwrap();
    let extended = entries.into_iter().filter(|entry| entry.activity.action == ActivityAction::Extended);
    extended
        .map(|entry| {
            assert_eq!(entry.activity.act.actor_email.unwrap().as_str(), "admin@example.org");
            (entry.activity.subject, entry.activity.detail.unwrap())
        })
        .collect()
}

#[tokio::test]
async fn class_is_for_admins_only() {
    let world = World::new().await;
    let template = world.template().await.template_id;
    let until = world.clock.now();
    let alice = caller("alice");
    for refused in [
        world.launcher.template_states(&alice, template).await.unwrap_err(),
        world.launcher.template_states(&alice, Uuid::from_u128(404)).await.unwrap_err(),
        world.launcher.extend_template(&alice, template, until, Bound::Maximum).await.unwrap_err(),
        world.launcher.count_below_maximum(&alice, template).await.unwrap_err(),
        world.launcher.apply_maximum(&alice, template).await.unwrap_err(),
    ] {
        assert!(matches!(refused, ServiceError::Forbidden), "{refused}");
    }
    let missing = world
        .launcher
        .extend_template(&caller("admin"), Uuid::from_u128(404), until, Bound::Maximum)
        .await
        .unwrap_err();
    assert!(matches!(missing, ServiceError::NotFound), "{missing}");
}

#[tokio::test]
async fn class_is_counted_by_state() {
    let world = World::new().await;
    let (template, other) = (world.template().await.template_id, world.template().await.template_id);
    running(&world, template, "alice").await;
    running(&world, template, "bob").await;
    running(&world, other, "carol").await;
    let class = world.launcher.template_states(&caller("admin"), template).await.unwrap();
    assert_eq!(class.template.template_id, template);
    let states: Vec<u64> = class.states.iter().map(|(_, count)| *count).collect();
    assert_eq!((class.states[2], states), ((InstanceState::Running, 2), vec![0, 0, 2, 0, 0, 0, 0]));
}

#[tokio::test]
async fn class_is_extended_until_a_time_once() {
    let world = World::new().await;
    let (template, other) = (world.template().await.template_id, world.template().await.template_id);
    let (alice, bob) = (running(&world, template, "alice").await, running(&world, template, "bob").await);
    let carol = running(&world, other, "carol").await;
    let until = later(alice.expires_at.unwrap(), 5400);
    let admin = caller("admin");
    let results = world.launcher.extend_template(&admin, template, until, Bound::Maximum).await.unwrap();
    let names: Vec<&str> = results.iter().map(|result| result.k8s_name.as_str()).collect();
    assert_eq!(names, [&bob.k8s_name, &alice.k8s_name], "newest first");
    for result in &results {
        assert_eq!((result.outcome, result.expires_at), (ExtensionOutcome::Extended, Some(until)));
        let stored = world.launcher.instance(&admin, &result.k8s_name).await.unwrap().instance;
        assert_eq!(stored.expires_at, Some(until));
        assert_eq!(
            world.launcher.instance(&admin, &carol.k8s_name).await.unwrap().instance.expires_at,
            carol.expires_at
        );
    }
    let detail = format!("{until:.3}");
    let logged = [(bob.k8s_name, detail.clone()), (alice.k8s_name, detail)];
    let mut entries = extensions(&world).await;
    entries.sort_by_key(|(name, _)| *name != logged[0].0);
    assert_eq!(entries, logged);

    let again = world.launcher.extend_template(&admin, template, until, Bound::Maximum).await.unwrap();
    assert!(again.iter().all(|result| result.outcome == ExtensionOutcome::Unchanged), "{again:?}");
    let earlier = world.launcher.extend_template(&admin, template, later(until, -60), Bound::Maximum).await.unwrap();
    assert!(earlier.iter().all(|result| result.expires_at == Some(until)), "never shortened: {earlier:?}");
    assert_eq!(extensions(&world).await.len(), 2, "an unchanged instance has no entry");
}

#[tokio::test]
async fn class_is_extended_at_most_to_the_maximum_lifetime() {
    let world = World::new().await;
    let template = world.template().await.template_id;
    let alice = running(&world, template, "alice").await;
    let latest = later(alice.started_at.unwrap(), i64::from(alice.settings.max_lifetime_seconds));
    let admin = caller("admin");
    let far = later(latest, 1);
    let results = world.launcher.extend_template(&admin, template, far, Bound::Maximum).await.unwrap();
    assert_eq!((results[0].outcome, results[0].expires_at), (ExtensionOutcome::Shortened, Some(latest)));
    let again = world.launcher.extend_template(&admin, template, far, Bound::Maximum).await.unwrap();
    let refused = ExtensionOutcome::Refused(ExtendError::LifetimeLimitReached);
    assert_eq!((again[0].outcome, again[0].expires_at), (refused, Some(latest)));
    assert_eq!(extensions(&world).await.len(), 1);
}

#[tokio::test]
async fn admin_extends_class_beyond_the_maximum_lifetime() {
    let world = World::new().await;
    let template = world.template().await.template_id;
    let alice = running(&world, template, "alice").await;
    let far = later(alice.latest_expiry(Bound::Maximum).unwrap(), 90);
    let admin = caller("admin");
    let results = world.launcher.extend_template(&admin, template, far, Bound::Longest).await.unwrap();
    assert_eq!((results[0].outcome, results[0].expires_at), (ExtensionOutcome::Extended, Some(far)));
    eventually(async || (world.fleet.workshop(&alice.k8s_name)?.spec.expires_at == Some(far)).then_some(())).await;
    let page = Page { limit: 1, after: None };
    let entry = world.launcher.activities(&admin, &ActivityFilter::default(), &page).await.unwrap().remove(0).activity;
    assert_eq!((entry.action, entry.detail), (ActivityAction::ExtendedBeyondMaximum, Some(format!("{far:.3} 90"))));
}

#[tokio::test]
async fn raised_maximum_of_template_is_applied_to_its_current_instances_once() {
    let world = World::new().await;
    let (template, other) = (world.template().await, world.template().await.template_id);
    let alice = running(&world, template.template_id, "alice").await;
    let carol = running(&world, other, "carol").await;
    let (admin, id) = (caller("admin"), template.template_id);
    assert_eq!(world.launcher.count_below_maximum(&admin, id).await.unwrap(), 0);
    let maximum = template.settings.max_lifetime_seconds + 3600;
    let mut content = TemplateContent::from(&template);
    content.settings.max_lifetime_seconds = maximum;
    let update = TemplateUpdate { body: content.to_json(), expected_version: None };
    world.launcher.update_template(&admin, id, update).await.unwrap();
    let stored = world.launcher.instance(&admin, &alice.k8s_name).await.unwrap().instance;
    assert_eq!(stored.max_lifetime_seconds(), maximum - 3600, "not before it is applied");

    assert_eq!(world.launcher.count_below_maximum(&admin, id).await.unwrap(), 1);
    let changed = world.launcher.apply_maximum(&admin, id).await.unwrap();
    assert_eq!(changed.iter().map(|instance| &instance.k8s_name).collect::<Vec<_>>(), [&alice.k8s_name]);
    assert_eq!((changed[0].max_lifetime_seconds(), changed[0].expires_at), (maximum, alice.expires_at));
    assert_eq!(world.launcher.apply_maximum(&admin, id).await.unwrap(), [], "once");
    let others = world.launcher.instance(&admin, &carol.k8s_name).await.unwrap().instance;
    assert_eq!(others.raised_max_lifetime_seconds, None, "another template");
    let page = Page { limit: 1, after: None };
    let entry = world.launcher.activities(&admin, &ActivityFilter::default(), &page).await.unwrap().remove(0).activity;
    assert_eq!((entry.action, entry.detail), (ActivityAction::MaximumRaised, Some(maximum.to_string())));
}
