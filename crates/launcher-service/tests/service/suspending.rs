//! Suspended instances: the Workshop is deleted, the volume stays, and a resume creates the Workshop again.

use std::time::Duration;

use launcher_domain::instance::{ResumeError, SuspendError};
use launcher_domain::{ActivityAction, Clock, EndReason, Instance, InstanceState, Template};
use launcher_fleet::{Fleet, FleetEvent};
use launcher_service::{ActivityFilter, LaunchRequest, Limits, Page, ServiceError};
use launcher_testkit::{Fault, eventually};
use launcher_workshop::ResourceExt;
use serde_json::json;

use crate::volumes::body_with_storage;
use crate::{World, caller, with};

const DAY: Duration = Duration::from_secs(24 * 3600);
const SECRET: &str = "hunter2-unique";

impl World {
    pub(crate) async fn kept_template(&self) -> Template {
        self.launcher.create_template(&caller("admin"), &body_with_storage()).await.unwrap()
    }

    async fn suspend(&self, instance: &Instance) -> Instance {
        self.launcher.suspend(&caller("alice"), &instance.k8s_name).await.unwrap();
        self.until(&instance.k8s_name, InstanceState::Suspended).await
    }

    /// Resumes an instance, and waits until it runs.
    async fn resume(&self, instance: &Instance) -> Instance {
        let name = &instance.k8s_name;
        self.launcher.resume(&caller("alice"), name).await.unwrap();
        self.workshop(name).await;
        self.fleet.ready(name);
        self.until(name, InstanceState::Running).await
    }

    async fn logged(&self, action: ActivityAction) -> usize {
        let page = Page { limit: 100, after: None };
        let entries = self.launcher.activities(&caller("admin"), &ActivityFilter::default(), &page).await.unwrap();
        entries.iter().filter(|entry| entry.activity.action == action).count()
    }
}

#[tokio::test]
async fn resumed_instance_has_its_name_url_volume_and_a_new_lifetime() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let before = world.run(&template, "alice").await;
    let first = world.workshop(&before.k8s_name).await;

    let suspended = world.suspend(&before).await;
    assert_eq!(world.fleet.workshop(&before.k8s_name), None);
    assert_eq!(world.fleet.volumes(), [before.volume.clone().unwrap()]);
    assert_eq!((suspended.report.url.as_ref(), suspended.expires_at), (None, None));
    world.clock.advance(DAY);

    let after = world.resume(&suspended).await;
    let second = world.workshop(&before.k8s_name).await;
    assert_eq!(second.spec, first.spec);
    assert_ne!(second.uid(), first.uid());
    assert_eq!((&after.report.url, &after.volume), (&before.report.url, &before.volume));
    let (lifetime, started_at) = (after.settings.lifetime_seconds, after.started_at.unwrap());
    assert_eq!((after.expires_at.unwrap() - started_at).get_seconds(), i64::from(lifetime));
    assert!(started_at > before.expires_at.unwrap());
    assert_eq!(world.logged(ActivityAction::Suspended).await, 1);
    assert_eq!(world.logged(ActivityAction::Resumed).await, 1);
}

#[tokio::test]
async fn repeated_requests_change_nothing() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let alice = caller("alice");
    let row = world.run(&template, "alice").await;
    world.fleet.hold_deletions();
    let name = &row.k8s_name;
    let suspending = world.launcher.suspend(&alice, name).await.unwrap().instance;
    assert_eq!(world.launcher.suspend(&alice, name).await.unwrap().instance.revision, suspending.revision);
    let early = world.launcher.resume(&alice, name).await;
    assert!(matches!(early, Err(ServiceError::Resume(ResumeError::StillSuspending))), "{early:?}");
    world.everything_told().await;
    world.fleet.remove_workshop(name);
    let suspended = world.until(name, InstanceState::Suspended).await;
    assert_eq!(world.launcher.suspend(&alice, name).await.unwrap().instance.revision, suspended.revision);

    let resumed = world.resume(&row).await;
    assert_eq!(world.launcher.resume(&alice, name).await.unwrap().instance.revision, resumed.revision);
    assert_eq!((world.fleet.created(), world.logged(ActivityAction::Resumed).await), (2, 1));
}

#[tokio::test]
async fn instance_without_kept_files_is_not_suspended() {
    let world = World::new().await;
    let row = world.running(&caller("alice")).await;
    let refused = world.launcher.suspend(&caller("alice"), &row.k8s_name).await;
    assert!(matches!(refused, Err(ServiceError::Suspend(SuspendError::FilesNotKept))), "{refused:?}");
    let refused = world.launcher.resume(&caller("alice"), &row.k8s_name).await.unwrap().instance;
    assert_eq!(refused.revision, row.revision, "a running instance is already resumed");
}

#[tokio::test]
async fn suspended_instance_frees_its_place_and_a_resume_needs_one() {
    let world = World::with(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    let suspended = world.suspend(&row).await;
    let again = world.launcher.launch(&caller("alice"), template.template_id, &LaunchRequest::default()).await;
    let Err(ServiceError::VolumeInUse(user)) = &again else { panic!("{again:?}") };
    assert_eq!((&user.k8s_name, user.is_suspended), (&row.k8s_name, true));
    assert!(again.unwrap_err().to_string().contains("resume it"));

    let other = world.running(&caller("alice")).await;
    let refused = world.launcher.resume(&caller("alice"), &suspended.k8s_name).await;
    assert!(matches!(refused, Err(ServiceError::InstanceLimitReached { held: 1, .. })), "{refused:?}");
    world.launcher.terminate(&caller("alice"), &other.k8s_name).await.unwrap();
    world.until(&other.k8s_name, InstanceState::Terminated).await;
    world.resume(&suspended).await;
}

#[tokio::test]
async fn resume_in_a_class_needs_a_place_and_a_class_that_is_not_over() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let template = world.launcher.create_template(&class, &body_with_storage()).await.unwrap();
    let launch = async |who: &str| {
        let access = world.access(who, &class).await.unwrap();
        let launched = world.launcher.launch(&access, template.template_id, &LaunchRequest::default()).await.unwrap();
        let name = launched.listed.instance.k8s_name;
        world.workshop(&name).await;
        world.fleet.ready(&name);
        world.until(&name, InstanceState::Running).await
    };
    let suspended = world.suspend(&launch("alice").await).await;
    let other = launch("bob").await.k8s_name;
    let resume = async || world.launcher.resume(&caller("alice"), &suspended.k8s_name).await;
    let limited = json!({ "name": "x", "max_workshops": 1 });
    let of_teacher = world.launcher.update_class(&class, limited.as_object().unwrap(), None).await.unwrap();
    let refused = resume().await;
    let is_full = matches!(refused, Err(ServiceError::ClassLimitReached { limit: 1, is_of_caller: false }));
    assert!(is_full, "{refused:?}");

    world.launcher.end_in_class(&of_teacher, &other).await.unwrap();
    world.until(&other, InstanceState::Terminated).await;
    let archived = with(limited.as_object().unwrap().clone(), &json!({ "archived": true }));
    let of_teacher = world.launcher.update_class(&of_teacher, &archived, None).await.unwrap();
    let refused = resume().await;
    assert!(matches!(refused, Err(ServiceError::ClassOver)), "{refused:?}");
    world.launcher.update_class(&of_teacher, limited.as_object().unwrap(), None).await.unwrap();
    world.resume(&suspended).await;
}

#[tokio::test]
async fn late_events_about_the_former_workshop_do_not_end_the_resumed_instance() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    let former = world.workshop(&row.k8s_name).await;
    let suspended = world.suspend(&row).await;
    // The fleet refuses all calls, so that the resumed instance has no Workshop yet.
    world.fleet.inject_faults(std::iter::repeat_n(Fault::Unavailable, 200));
    world.launcher.resume(&caller("alice"), &row.k8s_name).await.unwrap();
    world.until(&row.k8s_name, InstanceState::Starting).await;
    for event in [FleetEvent::Applied(Box::new(former.clone())), FleetEvent::Deleted(Box::new(former))] {
        world.fleet.announce(&event);
    }
    world.fleet.relist();
    world.fleet.clear_faults();
    let resumed = world.resume(&suspended).await;
    assert_eq!((resumed.state, resumed.end_reason), (InstanceState::Running, None));
}

#[tokio::test]
async fn kill_at_each_step_loses_and_doubles_nothing() {
    let mut world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    let (alice, name) = (caller("alice"), row.k8s_name.clone());
    world.stop().await;
    world.launcher.suspend(&alice, &name).await.unwrap();
    world.kill().await;
    assert!(world.fleet.workshop(&name).is_some(), "only the row knows about the suspension");
    world.fleet.inject_faults([Fault::Unavailable, Fault::ErrorAfterSuccess]);
    world.start();
    world.until(&name, InstanceState::Suspended).await;

    world.stop().await;
    world.launcher.resume(&alice, &name).await.unwrap();
    world.kill().await;
    world.fleet.inject_faults([Fault::Unavailable, Fault::ErrorAfterSuccess]);
    world.start();
    world.workshop(&name).await;
    world.kill().await;
    world.start();
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await;
    assert_eq!(world.fleet.created(), 2);
}

#[tokio::test]
async fn deletion_without_an_event_is_found_after_a_restart() {
    let mut world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.fleet.hold_deletions();
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    world.everything_told().await;
    world.kill().await;
    world.fleet.remove_silently(&row.k8s_name);
    world.start();
    world.until(&row.k8s_name, InstanceState::Suspended).await;
}

#[tokio::test]
async fn suspended_instance_is_ended_without_a_workshop() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.suspend(&row).await;
    let deletions = world.fleet.deletions();
    let ended = world.launcher.terminate(&caller("alice"), &row.k8s_name).await.unwrap().instance;
    assert_eq!((ended.state, ended.end_reason), (InstanceState::Terminated, Some(EndReason::Owner)));
    let refused = world.launcher.resume(&caller("alice"), &row.k8s_name).await;
    assert!(matches!(refused, Err(ServiceError::Resume(ResumeError::NotSuspended))), "{refused:?}");
    assert_eq!(world.fleet.deletions(), deletions);
    assert_eq!(world.run(&template, "alice").await.volume, row.volume, "the next launch has the files");
}

#[tokio::test]
async fn end_of_a_suspending_instance_ends_it() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.fleet.hold_deletions();
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    world.everything_told().await;
    world.launcher.terminate(&caller("alice"), &row.k8s_name).await.unwrap();
    world.fleet.remove_workshop(&row.k8s_name);
    let ended = world.until(&row.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Owner));
}

#[tokio::test]
async fn expiry_suspends_if_the_template_says_so() {
    let world = World::new().await;
    let mut body = body_with_storage();
    body["storage"]["at_expiry"] = json!("suspend");
    let template = world.launcher.create_template(&caller("admin"), &body).await.unwrap();
    let row = world.run(&template, "alice").await;
    world.fleet.expire(&row.k8s_name);
    let suspended = world.until(&row.k8s_name, InstanceState::Suspended).await;
    assert_eq!((suspended.suspended_at, suspended.end_reason), (row.expires_at, None));
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
    world.resume(&suspended).await;
}

#[tokio::test]
async fn secret_parameters_reach_the_resumed_app() {
    let world = World::new().await;
    let parameters = json!([{ "name": "TOKEN", "label": "Token", "kind": "secret" }]);
    let body = with(body_with_storage(), &json!({ "parameters": parameters }));
    let template = world.launcher.create_template(&caller("admin"), &body).await.unwrap();
    let parameters = [("TOKEN".to_owned(), SECRET.to_owned())].into_iter().collect();
    let request = LaunchRequest { parameters, ..LaunchRequest::default() };
    let launched = world.launcher.launch(&caller("alice"), template.template_id, &request).await.unwrap();
    let row = launched.listed.instance;
    world.workshop(&row.k8s_name).await;
    world.fleet.ready(&row.k8s_name);
    world.until(&row.k8s_name, InstanceState::Running).await;

    world.suspend(&row).await;
    assert!(world.fleet.secrets(&row.k8s_name).is_empty());
    world.resume(&row).await;
    assert_eq!(world.fleet.secrets(&row.k8s_name).reveal("TOKEN"), Some(SECRET));
    world.launcher.terminate(&caller("alice"), &row.k8s_name).await.unwrap();
    world.until(&row.k8s_name, InstanceState::Terminated).await;
    assert!(world.store.dispatch_secrets(row.instance_id).await.unwrap().is_empty());
}

#[tokio::test]
async fn retention_ends_a_suspended_instance_and_deletes_its_volume() {
    let limits = Limits { volume_retention: Some(10 * DAY), history: 365 * DAY, ..Limits::default() };
    let mut world = World::with(limits).await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.suspend(&row).await;
    let announced = world.volumes("alice").await[0].volume.deleted_after(10 * DAY).unwrap();
    world.kill().await;
    world.clock.advance(announced.duration_since(world.clock.now()).unsigned_abs() - Duration::from_secs(1));
    world.upkeep_round().await;
    assert_eq!(world.until(&row.k8s_name, InstanceState::Suspended).await.end_reason, None, "not before its time");

    world.clock.advance(Duration::from_secs(2));
    world.start();
    let ended = world.until(&row.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Expired));
    eventually(async || world.fleet.volumes().is_empty().then_some(())).await;
    let refused = world.launcher.resume(&caller("alice"), &row.k8s_name).await;
    assert!(matches!(refused, Err(ServiceError::Resume(ResumeError::NotSuspended))), "{refused:?}");
}

/// The fleet may report a Workshop as ready before the launcher has recorded its uid.
#[tokio::test]
async fn suspension_before_the_uid_is_recorded_deletes_exactly_that_workshop() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.everything_told().await;
    world.forget_uid(&row.k8s_name).await;
    let suspended = world.suspend(&row).await;
    assert_eq!(suspended.workshop_uid, row.workshop_uid);
    assert_eq!(world.fleet.get(&row.k8s_name).await.unwrap(), None);
}
