use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use launcher_domain::{Attention, ClassMessage, Clock, Hand};
use launcher_service::{LaunchRequest, Launcher, ServiceError};
use launcher_testkit::in_time;

use crate::{World, caller, launcher};

type Feed = Pin<Box<dyn Stream<Item = Arc<Attention>> + Send>>;

async fn follow(launcher: &Launcher, access: &launcher_domain::ClassAccess) -> Feed {
    let mut feed: Feed = Box::pin(launcher.follow_attention(access));
    in_time(feed.next()).await.unwrap();
    feed
}

/// Returns the next state of the class for which `wanted` is true.
async fn until(feed: &mut Feed, wanted: impl Fn(&Attention) -> bool) -> Arc<Attention> {
    in_time(async {
        loop {
            let attention = feed.next().await.unwrap();
            if wanted(&attention) {
                return attention;
            }
        }
    })
    .await
}

#[tokio::test]
async fn hand_and_message_reach_the_members_of_the_class_on_each_replica() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let other = world.class("carl", &["bob"]).await;
    let replica = launcher(&world.store, &world.fleet, &world.clock, world.limits, None);
    let stop = tokio_util::sync::CancellationToken::new();
    let loops = tokio::spawn({
        let (replica, stop) = (replica.clone(), stop.clone());
        async move { replica.run(stop).await }
    });
    let alice = world.access("alice", &class).await.unwrap();
    let mut teachers = follow(&replica, &class).await;
    let mut students = follow(&world.launcher, &alice).await;
    let mut elsewhere = follow(&world.launcher, &other).await;

    world.launcher.raise_hand(&alice).await.unwrap();
    let seen = until(&mut teachers, |class| !class.hands.is_empty()).await;
    assert_eq!(seen.hands[0].email, *caller("alice").email());
    replica.take_hand(&class, caller("alice").email()).await.unwrap();
    let taken = |hand: &Hand| hand.taken_by.as_ref() == Some(caller("tina").email());
    until(&mut students, |class| class.hands.iter().any(taken)).await;
    replica.lower_hand(&class, caller("alice").email()).await.unwrap();
    until(&mut students, |class| class.hands.is_empty()).await;

    replica.send_message(&class, " Exercise 2 ").await.unwrap();
    let told = until(&mut students, |class| class.message.is_some()).await;
    assert_eq!(told.current_message(world.clock.now()).unwrap().text, "Exercise 2");
    assert_eq!(world.launcher.class_message(&alice).await.unwrap().unwrap().text, "Exercise 2");
    replica.remove_message(&class).await.unwrap();
    until(&mut students, |class| class.message.is_none()).await;

    world.launcher.send_message(&other, "Only for the other class").await.unwrap();
    // The feed can publish the creation of the class after `follow`.
    let first = until(&mut elsewhere, |class| class.message.is_some() || !class.hands.is_empty()).await;
    assert_eq!(first.message.as_ref().map(|message| message.text.as_str()), Some("Only for the other class"));
    stop.cancel();
    loops.await.unwrap();
}

#[tokio::test]
async fn stream_of_a_removed_member_ends_and_the_hand_is_lowered() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let [alice, bob] = [world.access("alice", &class).await.unwrap(), world.access("bob", &class).await.unwrap()];
    world.launcher.raise_hand(&alice).await.unwrap();
    let (mut alices, mut bobs) = (follow(&world.launcher, &alice).await, follow(&world.launcher, &bob).await);
    world.launcher.remove_member(&class, caller("alice").email()).await.unwrap();
    until(&mut bobs, |class| class.hands.is_empty() && !class.members.contains_key(caller("alice").email())).await;
    in_time(async { while alices.next().await.is_some() {} }).await;
    assert!(matches!(world.launcher.raise_hand(&alice).await, Err(ServiceError::ClassRole)));
}

#[tokio::test]
async fn admin_without_a_role_follows_the_class() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let [alice, admin] = [world.access("alice", &class).await.unwrap(), world.access("admin", &class).await.unwrap()];
    assert_eq!(admin.role(), None);
    let mut admins = follow(&world.launcher, &admin).await;
    world.launcher.raise_hand(&alice).await.unwrap();
    until(&mut admins, |class| class.hands.iter().any(|hand| hand.email == *caller("alice").email())).await;
}

#[tokio::test]
async fn role_decides_who_answers_hands_and_sends_messages() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let [alice, bob] = [world.access("alice", &class).await.unwrap(), world.access("bob", &class).await.unwrap()];
    let admin = world.access("admin", &class).await.unwrap();
    world.launcher.raise_hand(&alice).await.unwrap();
    let hers = caller("alice");
    for refused in [
        world.launcher.take_hand(&bob, hers.email()).await.map(|_| ()),
        world.launcher.lower_hand(&bob, hers.email()).await,
        world.launcher.send_message(&bob, "x").await.map(|_| ()),
        world.launcher.remove_message(&bob).await,
        world.launcher.raise_hand(&admin).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(ServiceError::ClassRole)), "{refused:?}");
    }
    assert!(world.launcher.attention(&bob).await.unwrap().hands.is_empty(), "a student sees only the own hand");
    assert!(matches!(world.launcher.send_message(&class, " ").await, Err(ServiceError::Invalid(_))));
    let none = world.launcher.take_hand(&class, caller("bob").email()).await;
    assert!(matches!(none, Err(ServiceError::NotFound)), "{none:?}");
    world.launcher.take_hand(&admin, hers.email()).await.unwrap();
    world.launcher.send_message(&admin, "From the admin").await.unwrap();
    world.clock.advance(ClassMessage::LIFETIME.unsigned_abs());
    assert_eq!(world.launcher.class_message(&alice).await.unwrap(), None, "a message ends by itself");
}

#[tokio::test]
async fn class_of_a_workshop_is_shown_to_its_owner_only() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let template = world.class_template(&class).await;
    let alice = world.access("alice", &class).await.unwrap();
    let request = LaunchRequest::default();
    let launched = world.launcher.launch(&alice, template.template_id, &request).await.unwrap();
    let name = launched.listed.instance.k8s_name;
    assert!(world.workshop(&name).await.spec.in_class);
    let shared = world.running(&caller("alice")).await.k8s_name;
    assert!(!world.workshop(&shared).await.spec.in_class);

    let access = world.launcher.class_of_own_instance(&caller("alice"), &name).await.unwrap();
    assert_eq!(access, alice);
    for (who, name) in [("tina", &name), ("admin", &name), ("alice", &shared)] {
        let hidden = world.launcher.class_of_own_instance(&caller(who), name).await;
        assert!(matches!(hidden, Err(ServiceError::NotFound)), "{who} {name}");
    }
    world.launcher.remove_member(&class, caller("alice").email()).await.unwrap();
    let former = world.launcher.class_of_own_instance(&caller("alice"), &name).await;
    assert!(matches!(former, Err(ServiceError::NotFound)));
}

#[tokio::test]
async fn person_who_changes_the_own_hand_many_times_waits() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let slug = &class.class().content.slug;
    let alice = world.launcher.class(&caller("alice"), slug).await.unwrap();
    let bob = world.launcher.class(&caller("bob"), slug).await.unwrap();
    for _ in 0..10 {
        world.launcher.raise_hand(&alice).await.unwrap();
        world.launcher.lower_hand(&alice, alice.caller().email()).await.unwrap();
    }
    let refused = world.launcher.raise_hand(&alice).await;
    let Err(ServiceError::TooManyHandChanges { retry_after }) = refused else { panic!("{refused:?}") };
    world.launcher.raise_hand(&bob).await.unwrap();
    world.launcher.lower_hand(&class, bob.caller().email()).await.unwrap();
    world.clock.advance(std::time::Duration::from_secs(retry_after.into()));
    world.launcher.raise_hand(&alice).await.unwrap();
}
