use std::time::Duration;

use futures_util::{Stream, StreamExt};
use launcher_domain::{InstanceState, Limits};
use launcher_service::FeedEvent;
use tokio::time::timeout;

use crate::{World, caller};

/// The next event that `wanted` accepts.
async fn next(feed: &mut (impl Stream<Item = FeedEvent> + Unpin), wanted: impl Fn(&FeedEvent) -> bool) -> FeedEvent {
    let found = async {
        loop {
            let event = feed.next().await.unwrap();
            if wanted(&event) {
                return event;
            }
        }
    };
    timeout(Duration::from_secs(20), found).await.unwrap()
}

#[tokio::test]
async fn tells_the_owner_and_admins_and_nobody_else() {
    let world = World::new().await;
    let (alice, bob, admin) = (caller("alice"), caller("bob"), caller("admin"));
    let mut alices = Box::pin(world.launcher.subscribe(&alice, None));
    let mut bobs = Box::pin(world.launcher.subscribe(&bob, None));
    let mut admins = Box::pin(world.launcher.subscribe(&admin, None));
    let name = world.running(&alice).await.k8s_name;
    let is_running = |event: &FeedEvent| event.listed.instance.state == InstanceState::Running;
    assert_eq!(next(&mut alices, is_running).await.listed.instance.k8s_name, name);
    assert_eq!(next(&mut admins, is_running).await.listed.instance.k8s_name, name);
    let own = world.running(&bob).await.k8s_name;
    assert_eq!(next(&mut bobs, |_| true).await.listed.instance.k8s_name, own, "Alice's is not among what Bob sees");
}

#[tokio::test]
async fn resumes_behind_the_last_event_and_starts_over_when_it_cannot() {
    let world = World::new().await;
    let alice = caller("alice");
    let first = world.running(&alice).await;
    let mut feed = Box::pin(world.launcher.subscribe(&alice, None));
    let seen = next(&mut feed, |_| true).await;
    assert_eq!(seen.id, first.revision, "without an id it begins with all that is live");
    drop(feed);

    let second = world.running(&alice).await;
    let mut resumed = Box::pin(world.launcher.subscribe(&alice, Some(seen.id)));
    assert_eq!(next(&mut resumed, |_| true).await.listed.instance.k8s_name, second.k8s_name);
    let mut unknown = Box::pin(world.launcher.subscribe(&alice, Some(1_000_000)));
    assert_eq!(next(&mut unknown, |_| true).await.listed.instance.k8s_name, first.k8s_name);
}

#[tokio::test]
async fn tells_when_a_place_in_line_moves_up() {
    let world = World::with(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let admin = caller("admin");
    let first = world.launch(&admin).await.k8s_name;
    world.until(&first, InstanceState::Starting).await;
    world.launch(&admin).await;
    let third = world.launch(&admin).await.k8s_name;
    let mut feed = Box::pin(world.launcher.subscribe(&admin, None));
    let at = |position: u32| {
        let third = third.clone();
        move |event: &FeedEvent| {
            event.listed.instance.k8s_name == third && event.listed.queue_position == Some(position)
        }
    };
    next(&mut feed, at(2)).await;
    world.fleet.ready(&first);
    next(&mut feed, at(1)).await;
}

#[tokio::test]
async fn what_changes_before_its_loop_begins_is_told_too() {
    let mut world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.fleet.hold_deletions();
    world.kill().await;
    let mut feed = Box::pin(world.launcher.subscribe(&alice, None));
    next(&mut feed, |_| true).await;
    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    world.start();
    next(&mut feed, |event| event.listed.instance.state == InstanceState::Terminating).await;
}
