//! Actions on all instances of a class.

use jiff::SignedDuration;
use launcher_domain::lifetime::{Bound, ExtensionOutcome};
use launcher_domain::{ActivityAction, ClassAccess, ClassRole, EndReason, Instance, InstanceState, Template};
use launcher_service::{
    ActivityFilter, BulkOutcome, BulkResult, Extension, LaunchRequest, Limits, MemberDraft, Page, ServiceError,
};
use serde_json::json;

use crate::volumes::body_with_storage;
use crate::{World, body, caller, with};

const STUDENTS: [&str; 3] = ["alice", "bob", "carol"];

impl World {
    /// Launches a ready workshop of the class for a member.
    async fn ready_in(&self, class: &ClassAccess, template: &Template, who: &str) -> Instance {
        let access = self.access(who, class).await.unwrap();
        let launched = self.launcher.launch(&access, template.template_id, &LaunchRequest::default()).await.unwrap();
        self.ready(&launched.listed.instance.k8s_name).await
    }

    async fn ready(&self, name: &str) -> Instance {
        self.workshop(name).await;
        self.fleet.ready(name);
        self.until(name, InstanceState::Running).await
    }

    async fn add(&self, class: &ClassAccess, who: &str, role: ClassRole) -> ClassAccess {
        let draft = MemberDraft { email: caller(who).email().clone(), role, name: String::new() };
        self.launcher.set_members(class, vec![draft]).await.unwrap();
        self.access(who, class).await.unwrap()
    }
}

/// Returns owner and outcome of each result.
fn outcomes(results: &[BulkResult]) -> Vec<(&str, String)> {
    let outcome = |outcome: &BulkOutcome| match outcome {
        BulkOutcome::Done => "done".to_owned(),
        BulkOutcome::Unchanged => "unchanged".to_owned(),
        BulkOutcome::Refused(error) => format!("{error:?}"),
    };
    let name = |result: &BulkResult| result.owner_email.as_str().find('@').unwrap();
    results.iter().map(|result| (&result.owner_email.as_str()[..name(result)], outcome(&result.outcome))).collect()
}

#[tokio::test]
async fn template_is_launched_once_for_each_student_who_owns_the_workshop() {
    let world = World::new().await;
    let class = world.class("tina", &STUDENTS).await;
    let template = world.class_template(&class).await;
    let own = world.ready_in(&class, &template, "bob").await;
    let results = world.launcher.launch_for_class(&class, template.template_id).await.unwrap();
    let [done, unchanged] = ["done", "unchanged"].map(str::to_owned);
    assert_eq!(outcomes(&results), [("alice", done.clone()), ("bob", unchanged.clone()), ("carol", done)]);
    let name = results[0].k8s_name.clone().unwrap();
    let launched = world.launcher.instance(&caller("alice"), &name).await.unwrap().instance;
    assert_eq!(launched.owner_email, *caller("alice").email());
    world.ready(&name).await;
    let page = Page { limit: 50, after: None };
    let log = world.launcher.activities(&caller("admin"), &ActivityFilter::default(), &page).await.unwrap();
    let entry = log.into_iter().map(|entry| entry.activity).find(|entry| entry.subject == name).unwrap();
    assert_eq!(entry.action, ActivityAction::Launched);
    assert_eq!(entry.act.actor_email, Some(caller("tina").email().clone()), "the log names the teacher");

    let again = world.launcher.launch_for_class(&class, template.template_id).await.unwrap();
    assert!(outcomes(&again).iter().all(|(_, outcome)| *outcome == unchanged), "{again:?}");
    let ended = world.launcher.end_in_class(&class, &own.k8s_name).await.unwrap().instance;
    assert_eq!(ended.end_reason, Some(EndReason::Teacher));
    let again = world.launcher.launch_for_class(&class, template.template_id).await.unwrap();
    assert_eq!(outcomes(&again)[1], ("bob", "done".to_owned()), "only for a student without one");
}

#[tokio::test]
async fn launch_for_a_class_keeps_the_limits_of_class_and_students() {
    let limits = Limits { max_instances_per_user: 1, ..Limits::default() };
    let world = World::with(limits).await;
    let class = world.class("tina", &STUDENTS).await;
    let template = world.class_template(&class).await;
    world.running(&caller("alice")).await;
    let limited = json!({ "name": "x", "max_workshops": 1 });
    let class = world.launcher.update_class(&class, limited.as_object().unwrap(), None).await.unwrap();
    let results = world.launcher.launch_for_class(&class, template.template_id).await.unwrap();
    assert!(matches!(
        results.iter().map(|result| &result.outcome).collect::<Vec<_>>()[..],
        [
            BulkOutcome::Refused(ServiceError::InstanceLimitReached { limit: 1, held: 1, .. }),
            BulkOutcome::Done,
            BulkOutcome::Refused(ServiceError::ClassLimitReached { limit: 1, is_of_caller: false }),
        ]
    ));
    let admin = world.access("admin", &class).await.unwrap();
    let results = world.launcher.launch_for_class(&admin, template.template_id).await.unwrap();
    let of_alice = &results[0].outcome;
    assert!(
        matches!(of_alice, BulkOutcome::Refused(ServiceError::InstanceLimitReached { limit: 1, held: 1, .. })),
        "a launch by an admin has the limits of the student: {of_alice:?}"
    );
    let asks = with(
        body("Exercise 2"),
        &json!({ "parameters": [{ "name": "KEY", "label": "Key", "kind": "text", "required": true }] }),
    );
    let asks = world.launcher.create_template(&class, &asks).await.unwrap();
    let refused = world.launcher.launch_for_class(&class, asks.template_id).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(_))), "{refused:?}");
}

#[tokio::test]
async fn launch_for_a_class_keeps_the_limit_of_each_student() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let (first, second) = (world.class_template(&class).await, world.class_template(&class).await);
    let limited = json!({ "name": "x", "max_workshops_per_member": 1 });
    let class = world.launcher.update_class(&class, limited.as_object().unwrap(), None).await.unwrap();
    world.ready_in(&class, &first, "alice").await;
    let results = world.launcher.launch_for_class(&class, second.template_id).await.unwrap();
    assert!(matches!(
        results.iter().map(|result| &result.outcome).collect::<Vec<_>>()[..],
        [BulkOutcome::Refused(ServiceError::ClassLimitReached { limit: 1, is_of_caller: true }), BulkOutcome::Done]
    ));
}

#[tokio::test]
async fn class_of_several_batches_is_extended_and_ended_once() {
    let mut world = World::new().await;
    let class = world.class("tina", &STUDENTS).await;
    let template = world.class_template(&class).await;
    let first = world.ready_in(&class, &template, "alice").await;
    let outside = world.running(&caller("bob")).await;
    // The fleet has no Workshops of the copies, which have no expiry.
    world.stop().await;
    world.copy_instance(&first.k8s_name, 249).await;
    let until = first.expires_at.unwrap() + SignedDuration::from_mins(10);
    let results = world.launcher.extend_all_in_class(&class, until, Bound::Maximum).await.unwrap();
    let own = |results: &[Extension]| results.iter().find(|one| one.k8s_name == first.k8s_name).unwrap().clone();
    let extended = own(&results);
    assert_eq!((results.len(), extended.outcome, extended.expires_at), (250, ExtensionOutcome::Extended, Some(until)));
    let again = world.launcher.extend_all_in_class(&class, until, Bound::Maximum).await.unwrap();
    assert_eq!(own(&again).outcome, ExtensionOutcome::Unchanged);

    let ended = world.launcher.end_class(&class).await.unwrap();
    assert_eq!(ended.len(), 250);
    assert!(ended.iter().all(|one| matches!(one.outcome, BulkOutcome::Done)));
    let now = world.launcher.instance(&caller("bob"), &outside.k8s_name).await.unwrap().instance;
    assert_eq!((now.state, now.expires_at), (InstanceState::Running, outside.expires_at), "outside of the class");
    let first = world.launcher.instance(&caller("alice"), &first.k8s_name).await.unwrap().instance;
    assert_eq!((first.state, first.end_reason), (InstanceState::Terminating, Some(EndReason::Teacher)));
}

#[tokio::test]
async fn all_workshops_that_keep_files_are_paused() {
    let world = World::new().await;
    let class = world.class("tina", &STUDENTS).await;
    let plain = world.class_template(&class).await;
    let kept = world.launcher.create_template(&class, &body_with_storage()).await.unwrap();
    let (alice, bob) = (world.ready_in(&class, &kept, "alice").await, world.ready_in(&class, &plain, "bob").await);
    let paused = world.launcher.suspend_class(&class).await.unwrap();
    assert!(matches!(
        paused.iter().map(|result| &result.outcome).collect::<Vec<_>>()[..],
        [BulkOutcome::Refused(ServiceError::Suspend(_)), BulkOutcome::Done]
    ));
    world.until(&alice.k8s_name, InstanceState::Suspended).await;
    world.until(&bob.k8s_name, InstanceState::Running).await;
}

#[tokio::test]
async fn role_decides_about_actions_on_all_workshops() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let template = world.class_template(&class).await;
    let running = world.ready_in(&class, &template, "alice").await;
    let (alice, until) = (world.access("alice", &class).await.unwrap(), running.expires_at.unwrap());
    let assistant = world.add(&class, "carl", ClassRole::Assistant).await;
    let second = world.add(&class, "dora", ClassRole::Teacher).await;
    world.add(&class, "dora", ClassRole::Student).await;
    let launcher = &world.launcher;
    let far = until + SignedDuration::from_hours(900);
    // Dora was a teacher when her request began.
    for access in [&alice, &assistant, &second] {
        for refused in [
            launcher.end_class(access).await.map(|_| ()),
            launcher.launch_for_class(access, template.template_id).await.map(|_| ()),
            launcher.extend_all_in_class(access, far, Bound::Longest).await.map(|_| ()),
        ] {
            assert!(matches!(refused, Err(ServiceError::ClassRole)), "{:?}: {refused:?}", access.role());
        }
    }
    launcher.suspend_class(&assistant).await.unwrap_err();
    launcher.extend_all_in_class(&alice, until, Bound::Maximum).await.unwrap_err();
    let extended = launcher.extend_all_in_class(&assistant, until + SignedDuration::from_mins(5), Bound::Maximum).await;
    assert_eq!(extended.unwrap()[0].outcome, ExtensionOutcome::Extended);
    let now = world.until(&running.k8s_name, InstanceState::Running).await;
    assert_eq!(now.expires_at, Some(until + SignedDuration::from_mins(5)));
}
