//! The stream of changes of a class, for its board.

use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt};
use launcher_domain::{ClassAccess, ClassMessage, ClassRole, InstanceState, JsonObject};
use launcher_service::{LaunchRequest, MemberDraft};
use launcher_testkit::{FrozenTime, in_time};

use crate::{World, caller, launcher};

/// Reads notifications until the stream ends.
async fn ended(mut feed: impl Stream<Item = ()> + Unpin) {
    in_time(async { while feed.next().await.is_some() {} }).await;
}

async fn notified(feed: &mut (impl Stream<Item = ()> + Unpin)) {
    in_time(feed.next()).await.unwrap();
}

/// Waits until the feed has published all changes so far. A stream can get the first message because the feed starts; the
/// second one is published.
async fn published(world: &World, class: &ClassAccess) {
    let mut attention = Box::pin(world.launcher.follow_attention(class));
    for text in ["first", "second"] {
        world.launcher.send_message(class, text).await.unwrap();
        let is_told = |message: &ClassMessage| message.text == text;
        in_time(async { while !attention.next().await.unwrap().message.as_ref().is_some_and(is_told) {} }).await;
    }
}

fn draft(who: &str, role: ClassRole, name: &str) -> MemberDraft {
    MemberDraft { email: caller(who).email().clone(), role, name: name.to_owned() }
}

impl World {
    async fn set(&self, access: &ClassAccess, who: &str, role: ClassRole, name: &str) {
        self.launcher.set_members(access, vec![draft(who, role, name)]).await.unwrap();
    }
}

#[tokio::test]
async fn board_is_notified_of_changes_of_its_class_only() {
    let world = World::new().await;
    let (class, other) = (world.class("tina", &["alice"]).await, world.class("carl", &["bob"]).await);
    let (template, elsewhere) = (world.class_template(&class).await, world.class_template(&other).await);
    published(&world, &class).await;
    let mut feed = Box::pin(world.launcher.watch_class(&class));
    notified(&mut feed).await;

    let bob = world.access("bob", &other).await.unwrap();
    let request = LaunchRequest::default();
    world.launcher.launch(&bob, elsewhere.template_id, &request).await.unwrap();
    world.set(&other, "dave", ClassRole::Student, "").await;
    world.running(&caller("alice")).await;
    assert!(feed.next().now_or_never().is_none(), "another class, and the shared catalog");

    let alice = world.access("alice", &class).await.unwrap();
    world.launcher.launch(&alice, template.template_id, &request).await.unwrap();
    notified(&mut feed).await;
    let mut members = Box::pin(world.launcher.watch_class(&class));
    notified(&mut members).await;
    world.set(&class, "alice", ClassRole::Student, "Alice").await;
    notified(&mut members).await;
    let mut joins = Box::pin(world.launcher.watch_class(&class));
    notified(&mut joins).await;
    let link = world.launcher.create_join_link(&class, &JsonObject::new()).await.unwrap();
    world.launcher.join(&caller("dave"), &link.code).await.unwrap();
    notified(&mut joins).await;
}

#[tokio::test]
async fn burst_of_changes_is_one_notification() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    published(&world, &class).await;
    let frozen = FrozenTime::start();
    let mut feed = Box::pin(world.launcher.watch_class(&class));
    notified(&mut feed).await;
    for number in 0..50 {
        world.set(&class, "alice", ClassRole::Student, &format!("Alice {number}")).await;
    }
    assert!(feed.next().now_or_never().is_none(), "within the gap after the first notification");
    drop(frozen);
    notified(&mut feed).await;
    assert!(feed.next().now_or_never().is_none(), "one notification for all changes");
}

#[tokio::test]
async fn board_ends_for_a_teacher_who_loses_the_role_on_another_replica() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    // A replica without loops: it notifies only the database.
    let replica = launcher(&world.store, &world.fleet, &world.clock, world.limits, None);
    for (who, changed) in [("carl", None), ("dora", Some(ClassRole::Student))] {
        world.set(&class, who, ClassRole::Assistant, "").await;
        let access = world.access(who, &class).await.unwrap();
        let mut feed = Box::pin(world.launcher.watch_class(&access));
        let mut teachers = Box::pin(world.launcher.watch_class(&class));
        notified(&mut feed).await;
        notified(&mut teachers).await;
        match changed {
            None => replica.remove_member(&class, caller(who).email()).await.unwrap(),
            Some(role) => drop(replica.set_members(&class, vec![draft(who, role, "")]).await.unwrap()),
        }
        ended(feed).await;
        notified(&mut teachers).await;
    }
}

#[tokio::test]
async fn attendance_has_launches_of_each_person_in_the_class_only() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let template = world.class_template(&class).await;
    let alice = world.access("alice", &class).await.unwrap();
    world.running(&caller("alice")).await;
    let mut names = Vec::new();
    for _ in 0..2 {
        let launched = world.launcher.launch(&alice, template.template_id, &LaunchRequest::default()).await.unwrap();
        names.push(launched.listed.instance.k8s_name);
        world.clock.advance(Duration::from_secs(60));
    }
    world.launcher.end_in_class(&class, &names[0]).await.unwrap();
    let ended = world.until(&names[0], InstanceState::Terminated).await;

    let attendance = world.launcher.attendance(&class).await.unwrap();
    assert_eq!(attendance.len(), 1, "only people who launched: {attendance:?}");
    let found = &attendance[0];
    assert_eq!((found.email.as_str(), found.workshops, found.is_active), ("alice@example.org", 2, true));
    assert_eq!((found.first_launch, found.last_end), (ended.created_at, ended.ended_at));
    assert_eq!(world.launcher.present(&class).await.unwrap(), attendance);
    world.clock.advance(Duration::from_hours(23));
    assert_eq!(world.launcher.present(&class).await.unwrap().len(), 1);
    world.clock.advance(Duration::from_hours(2));
    assert!(world.launcher.present(&class).await.unwrap().is_empty(), "present in the last 24 hours");
    world.launcher.attendance(&alice).await.unwrap_err();
}
