//! Classes with a namespace of their own: a fleet for each.

use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{ClassAccess, FieldRule, Instance, InstanceState, StartStep, Template, TemplatePolicy};
use launcher_fleet::Fleet;
use launcher_service::{ClaimError, Fleets, LaunchRequest, Launcher, Limits, NewClass, ServiceError};
use launcher_store::Store;
use launcher_testkit::{FakeFleet, eventually};
use serde_json::{Value, json};

use crate::volumes::body_with_storage;
use crate::{World, body, caller, database};

const NAMESPACE: &str = "class-a";

/// A service whose classes can have the namespace `class-a`, and the fleet of this namespace.
async fn world(limits: Limits) -> (World, FakeFleet) {
    let mut world = World::with(limits).await;
    let of_class = FakeFleet::new(world.clock.clone(), false);
    world.kill().await;
    world.launcher = launcher(&world, world.store.clone(), &of_class);
    world.start();
    (world, of_class)
}

/// Returns a service with this database, the fleet of the world, and that of the namespace.
fn launcher(world: &World, store: Store, of_class: &FakeFleet) -> Launcher {
    let of_classes = [(NAMESPACE.to_owned(), Arc::new(of_class.clone()) as Arc<dyn Fleet>)].into();
    let fleets = Fleets::from(Arc::new(world.fleet.clone())).with_classes(of_classes);
    let (clock, entropy) = (world.clock.clone(), Arc::new(SystemEntropy));
    Launcher::new(store, fleets, clock, entropy, world.limits, TemplatePolicy::default(), None)
}

impl World {
    async fn set_namespace(&self, class: &ClassAccess, namespace: Value) -> Result<ClassAccess, ServiceError> {
        let mut body = json!(class.class().content).as_object().unwrap().clone();
        body.insert("namespace".to_owned(), namespace);
        self.launcher.update_class(class, &body, None).await
    }

    /// Returns a class with the namespace, as its admin sees it.
    async fn class_in_namespace(&self) -> ClassAccess {
        let class = self.class("tina", &["alice", "bob", "carol"]).await;
        let as_admin = self.access("admin", &class).await.unwrap();
        self.set_namespace(&as_admin, NAMESPACE.into()).await.unwrap()
    }

    async fn launch_in(&self, class: &ClassAccess, template: &Template, who: &str) -> Instance {
        let access = self.access(who, class).await.unwrap();
        let launched = self.launcher.launch(&access, template.template_id, &LaunchRequest::default()).await;
        launched.unwrap().listed.instance
    }
}

/// Waits until this fleet runs the workshop.
async fn ready(world: &World, fleet: &FakeFleet, name: &str) {
    eventually(async || fleet.workshop(name)).await;
    fleet.ready(name);
    world.until(name, InstanceState::Running).await;
}

#[tokio::test]
async fn workshops_and_kept_files_of_a_class_are_in_its_namespace_and_stay_there() {
    let (world, of_class) = world(Limits::default()).await;
    let class = world.class_in_namespace().await;
    let template = world.launcher.create_template(&class, &body_with_storage()).await.unwrap();
    let first = world.launch_in(&class, &template, "alice").await;
    ready(&world, &of_class, &first.k8s_name).await;
    assert_eq!(world.fleet.names(), [""; 0]);
    world.end(&first).await;
    let volume = first.volume.clone().unwrap();
    assert_eq!((of_class.volumes(), of_class.names()), (vec![volume.clone()], Vec::new()));

    let class = world.set_namespace(&class, Value::Null).await.unwrap();
    let again = world.launch_in(&class, &template, "alice").await;
    ready(&world, &of_class, &again.k8s_name).await;
    assert_eq!(again.volume.as_ref(), Some(&volume), "the files of the first workshop");
    world.end(&again).await;
    let other = world.launch_in(&class, &template, "bob").await;
    ready(&world, &world.fleet, &other.k8s_name).await;

    world.launcher.delete_volume(&caller("alice"), &volume).await.unwrap();
    eventually(async || of_class.volumes().is_empty().then_some(())).await;
    let moved = world.launch_in(&class, &template, "alice").await;
    ready(&world, &world.fleet, &moved.k8s_name).await;
}

#[tokio::test]
async fn suspended_workshop_resumes_in_its_namespace() {
    let (world, of_class) = world(Limits::default()).await;
    let class = world.class_in_namespace().await;
    let template = world.launcher.create_template(&class, &body_with_storage()).await.unwrap();
    let name = world.launch_in(&class, &template, "alice").await.k8s_name;
    ready(&world, &of_class, &name).await;
    world.launcher.suspend(&caller("alice"), &name).await.unwrap();
    world.until(&name, InstanceState::Suspended).await;
    world.set_namespace(&class, Value::Null).await.unwrap();
    world.launcher.resume(&caller("alice"), &name).await.unwrap();
    ready(&world, &of_class, &name).await;
    assert_eq!(world.fleet.names(), [""; 0]);
}

#[tokio::test]
async fn workshop_with_a_name_of_another_namespace_is_an_orphan() {
    let (world, of_class) = world(Limits::default()).await;
    let class = world.class_in_namespace().await;
    let template = world.class_template(&class).await;
    let name = world.launch_in(&class, &template, "alice").await.k8s_name;
    ready(&world, &of_class, &name).await;
    let mut copy = of_class.workshop(&name).unwrap();
    copy.metadata.uid = Some("copy".to_owned());
    world.fleet.add_unrequested(&copy);
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
    assert_eq!(of_class.names(), std::slice::from_ref(&name));
    of_class.remove_workshop(&name);
    world.until(&name, InstanceState::Terminated).await;
}

#[tokio::test]
async fn only_admins_set_a_namespace_and_only_one_of_the_settings() {
    let (world, _) = world(Limits::default()).await;
    let class = world.class("tina", &[]).await;
    let rule = |error: ServiceError| match error {
        ServiceError::Invalid(mut errors) => errors.remove(0),
        other => panic!("{other:?}"),
    };
    let refused = rule(world.set_namespace(&class, NAMESPACE.into()).await.unwrap_err());
    assert_eq!((refused.pointer.as_str(), refused.rule), ("/namespace", FieldRule::OnlyAdmins));
    let as_admin = world.access("admin", &class).await.unwrap();
    let refused = rule(world.set_namespace(&as_admin, "kube-system".into()).await.unwrap_err());
    let choices = "null, class-a".to_owned();
    assert_eq!((refused.pointer.as_str(), refused.rule), ("/namespace", FieldRule::Choice { choices }));
    let body = json!({ "name": "x", "namespace": "kube-system" }).as_object().unwrap().clone();
    let new = NewClass { body, teachers: Vec::new() };
    assert_eq!(rule(world.launcher.create_class(&caller("admin"), &new).await.unwrap_err()).pointer, "/namespace");

    let as_admin = world.set_namespace(&as_admin, NAMESPACE.into()).await.unwrap();
    let class = world.access("tina", &class).await.unwrap();
    let mut body = json!(class.class().content).as_object().unwrap().clone();
    body.insert("description".to_owned(), "new".into());
    let changed = world.launcher.update_class(&class, &body, None).await.unwrap();
    assert_eq!(changed.class().content.namespace.as_deref(), Some(NAMESPACE), "teachers keep it");
    let file = world.launcher.class_files().export(&as_admin).await.unwrap();
    assert!(!file.contains(NAMESPACE), "another server has other namespaces: {file}");
}

#[tokio::test]
async fn queue_holds_launches_of_a_class_whose_quota_is_full() {
    let (world, of_class) = world(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let class = world.class_in_namespace().await;
    let template = world.launcher.create_template(&class, &body("Exercise")).await.unwrap();
    let waiting = world.launch_in(&class, &template, "alice").await.k8s_name;
    eventually(async || of_class.workshop(&waiting)).await;
    of_class.starting(&waiting, StartStep::WaitingForQuota);
    let held = world.launch_in(&class, &template, "bob").await.k8s_name;
    let other = world.running(&caller("dora")).await;
    assert_eq!(other.namespace, None, "the shared catalog is not delayed");
    assert_eq!(world.until(&held, InstanceState::Queued).await.namespace.as_deref(), Some(NAMESPACE));
    assert_eq!(of_class.names(), std::slice::from_ref(&waiting));

    of_class.starting(&waiting, StartStep::Preparing);
    ready(&world, &of_class, &waiting).await;
    ready(&world, &of_class, &held).await;
}

#[tokio::test]
async fn class_whose_namespace_the_settings_do_not_name_any_more_launches_nothing() {
    let (mut world, _of_class) = world(Limits::default()).await;
    let class = world.class_in_namespace().await;
    let template = world.class_template(&class).await;
    world.kill().await;
    let (store, clock, fleet) = (world.store.clone(), world.clock.clone(), Arc::new(world.fleet.clone()));
    let limits = Limits::default();
    world.launcher =
        Launcher::new(store, fleet, clock, Arc::new(SystemEntropy), limits, TemplatePolicy::default(), None);
    world.start();
    let alice = world.access("alice", &class).await.unwrap();
    let refused = world.launcher.launch(&alice, template.template_id, &LaunchRequest::default()).await;
    assert!(matches!(&refused, Err(ServiceError::FleetUnavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn new_database_is_refused_when_the_fleet_of_a_namespace_has_workshops() {
    let (world, of_class) = world(Limits::default()).await;
    let class = world.class_in_namespace().await;
    let template = world.class_template(&class).await;
    let name = world.launch_in(&class, &template, "alice").await.k8s_name;
    ready(&world, &of_class, &name).await;
    assert_eq!(world.fleet.names(), [""; 0]);
    let directory = tempfile::tempdir().unwrap();
    let new = Store::open(&database(&directory)).await.unwrap();
    let refused = launcher(&world, new, &of_class).claim_fleet().await.unwrap_err();
    assert!(matches!(refused, ClaimError::NewDatabase { workshops: 1 }), "{refused}");
}
