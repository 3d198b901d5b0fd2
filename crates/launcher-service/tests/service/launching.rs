use launcher_domain::{InstanceState, Limits, TemplateDraft};
use launcher_service::{InstanceFilter, LaunchRequest, Page, ServiceError};
use launcher_testkit::eventually;

use crate::{SOON, World, caller};

#[tokio::test]
async fn launched_instance_gets_a_workshop_and_runs() {
    let world = World::new().await;
    let alice = caller("alice");
    let launched = world.launch(&alice).await;
    assert_eq!((launched.state, launched.owner_email.as_str()), (InstanceState::Queued, "alice@example.org"));
    let workshop = world.workshop(&launched.k8s_name).await;
    assert_eq!(workshop.spec.owner, "alice@example.org");
    assert_eq!(workshop.metadata.labels.unwrap().len(), 2, "exactly app and managed-by");
    let starting = world.until(&launched.k8s_name, InstanceState::Starting).await;
    let told = &workshop.metadata.annotations.unwrap()["workshoplauncher.dev/dispatched-at"];
    assert_eq!((Some(told.parse().unwrap()), starting.url), (starting.dispatched_at, None));

    world.fleet.ready(&launched.k8s_name);
    let ready_at = world.workshop(&launched.k8s_name).await.status.unwrap().ready_at;
    let running = world.until(&launched.k8s_name, InstanceState::Running).await;
    assert_eq!(running.started_at, ready_at);
    assert!(running.expires_at > running.started_at && running.url.is_some());
}

#[tokio::test]
async fn template_edit_does_not_change_running_instance() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    let admin = caller("admin");
    let template = world.launcher.template(&admin, running.template_id).await.unwrap();
    let draft = TemplateDraft { name: "Other".to_owned(), ..TemplateDraft::from(&template) };
    let update = launcher_service::TemplateUpdate { draft, expected_version: None };
    world.launcher.update_template(&admin, running.template_id, update).await.unwrap();
    let now = world.launcher.instance(&admin, &running.k8s_name).await.unwrap().instance;
    assert_eq!(now.settings.name, "Jupyter");
}

#[tokio::test]
async fn launches_beyond_the_start_limit_are_queued() {
    let world = World::with(Limits { max_concurrent_starts: 2, ..Limits::default() }).await;
    let admin = caller("admin");
    let mut names = Vec::new();
    for _ in 0..4 {
        names.push(world.launch(&admin).await.k8s_name);
    }
    world.workshop(&names[1]).await;
    let position = async |name: &str| world.launcher.instance(&admin, name).await.unwrap().queue_position;
    eventually(SOON, async || (position(&names[2]).await == Some(1)).then_some(())).await;
    assert_eq!(position(&names[3]).await, Some(2));
    assert_eq!(world.fleet.names().len(), 2);

    world.fleet.ready(&names[0]);
    world.workshop(&names[2]).await;
    assert_eq!(position(&names[3]).await, Some(1));
}

#[tokio::test]
async fn launch_is_refused_at_instance_and_queue_limit() {
    let limits = Limits { max_concurrent_starts: 1, max_queued: 2, max_instances_per_user: 2, ..Limits::default() };
    let world = World::with(limits).await;
    let template = world.template().await.template_id;
    let request = LaunchRequest::default();
    let first = world.launcher.launch(&caller("alice"), template, &request).await.unwrap().listed.instance;
    world.until(&first.k8s_name, InstanceState::Starting).await;
    world.launcher.launch(&caller("alice"), template, &request).await.unwrap();
    let refused = world.launcher.launch(&caller("alice"), template, &request).await.unwrap_err();
    assert!(matches!(refused, ServiceError::InstanceLimitReached { limit: 2, held: 2, ending: 0 }), "{refused}");
    world.launcher.launch(&caller("bob"), template, &request).await.unwrap();
    let refused = world.launcher.launch(&caller("bob"), template, &request).await.unwrap_err();
    assert!(matches!(refused, ServiceError::AtCapacity), "{refused}");
}

#[tokio::test]
async fn repeated_idempotency_key_creates_one_instance() {
    let world = World::new().await;
    let (alice, bob) = (caller("alice"), caller("bob"));
    let template = world.template().await.template_id;
    let request = LaunchRequest { idempotency_key: Some("monday".to_owned()), ..LaunchRequest::default() };
    let first = world.launcher.launch(&alice, template, &request).await.unwrap();
    let again = world.launcher.launch(&alice, template, &request).await.unwrap();
    assert!(first.created && !again.created);
    assert_eq!(first.listed.instance.k8s_name, again.listed.instance.k8s_name);
    let others = world.launcher.launch(&bob, template, &request).await.unwrap();
    assert!(others.created, "a key counts for its caller alone");
    let elsewhere = world.template().await.template_id;
    let refused = world.launcher.launch(&alice, elsewhere, &request).await.unwrap_err();
    assert!(matches!(refused, ServiceError::IdempotencyKeyReused), "{refused}");
}

#[tokio::test]
async fn only_admins_can_launch_an_archived_template() {
    let world = World::new().await;
    let template = world.template().await.template_id;
    world.launcher.archive_template(&caller("admin"), template, None).await.unwrap();
    let refused = world.launcher.launch(&caller("alice"), template, &LaunchRequest::default()).await.unwrap_err();
    assert!(matches!(refused, ServiceError::TemplateInactive), "{refused}");
    world.launcher.launch(&caller("admin"), template, &LaunchRequest::default()).await.unwrap();
}

#[tokio::test]
async fn repeated_launch_succeeds_after_template_is_archived() {
    let world = World::new().await;
    let alice = caller("alice");
    let template = world.template().await.template_id;
    let request = LaunchRequest { idempotency_key: Some("monday".to_owned()), ..LaunchRequest::default() };
    let first = world.launcher.launch(&alice, template, &request).await.unwrap();
    world.launcher.archive_template(&caller("admin"), template, None).await.unwrap();
    let again = world.launcher.launch(&alice, template, &request).await.unwrap();
    assert!(!again.created && again.listed.instance.k8s_name == first.listed.instance.k8s_name);
    let other = LaunchRequest { idempotency_key: Some("tuesday".to_owned()), ..LaunchRequest::default() };
    let refused = world.launcher.launch(&alice, template, &other).await.unwrap_err();
    assert!(matches!(refused, ServiceError::TemplateInactive), "{refused}");
}

#[tokio::test]
async fn instances_are_visible_to_owner_and_admins_only() {
    let world = World::new().await;
    let (alice, bob, admin) = (caller("alice"), caller("bob"), caller("admin"));
    let name = world.launch(&alice).await.k8s_name;
    let count = async |who| {
        let page = Page { limit: 10, after: None };
        world.launcher.instances(who, &InstanceFilter::default(), &page).await.unwrap().len()
    };
    assert_eq!((count(&alice).await, count(&bob).await, count(&admin).await), (1, 0, 1));
    for refused in [
        world.launcher.instance(&bob, &name).await.unwrap_err(),
        world.launcher.extend(&bob, &name, None).await.unwrap_err(),
        world.launcher.terminate(&bob, &name).await.unwrap_err(),
    ] {
        assert!(matches!(refused, ServiceError::NotFound), "{refused}");
    }
}
