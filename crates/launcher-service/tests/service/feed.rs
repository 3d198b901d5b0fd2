use std::collections::HashMap;

use futures_util::{Stream, StreamExt};
use launcher_domain::InstanceState;
use launcher_service::{FeedEvent, Limits};
use launcher_testkit::{FrozenTime, in_time};

use crate::{World, caller};

/// Returns the next event for which `wanted` is true.
async fn next(
    feed: &mut (impl Stream<Item = FeedEvent> + Unpin),
    mut wanted: impl FnMut(&FeedEvent) -> bool,
) -> FeedEvent {
    in_time(async {
        loop {
            let event = feed.next().await.unwrap();
            if wanted(&event) {
                return event;
            }
        }
    })
    .await
}

#[tokio::test]
async fn instance_change_is_sent_only_to_owner_and_admins() {
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
    assert_eq!(
        next(&mut bobs, |_| true).await.listed.instance.k8s_name,
        own,
        "Bob must receive no event of Alice's workshop"
    );
}

#[tokio::test]
async fn feed_resumes_after_last_event_and_restarts_after_unknown_event() {
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
async fn feed_sends_changed_queue_positions() {
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
async fn feed_sends_promotion_from_the_queue_without_waiting_for_a_poll() {
    let world = World::new().await;
    let admin = caller("admin");
    let mut feed = Box::pin(world.launcher.subscribe(&admin, None));
    // The feed polls each second, which now never passes.
    let _frozen = FrozenTime::start();
    let name = world.launch(&admin).await.k8s_name;
    next(&mut feed, |event| {
        event.listed.instance.k8s_name == name && event.listed.instance.state == InstanceState::Starting
    })
    .await;
}

#[tokio::test]
async fn feed_sends_changes_made_before_the_feed_loop_starts() {
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

/// Queue length. When one instance leaves the queue, all positions change: more events than a subscriber may lag
/// behind.
const LONG: u32 = 400;

/// Creates one starting instance and a long queue. Returns their names in launch order.
async fn long_line() -> (World, Vec<String>) {
    let world = World::with(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let admin = caller("admin");
    let first = world.launch(&admin).await.k8s_name;
    world.until(&first, InstanceState::Starting).await;
    let second = world.launch(&admin).await.k8s_name;
    let copies = world.copy_instance(&second, LONG - 1).await;
    (world, [vec![first, second], copies].concat())
}

/// Reads the feed until it reports exactly these instances as queued, in this order.
async fn until_in_line(feed: &mut (impl Stream<Item = FeedEvent> + Unpin), names: &[String]) {
    let expected: HashMap<String, u32> = names.iter().cloned().zip(1..).collect();
    let mut told = HashMap::new();
    next(feed, |event| {
        let name = event.listed.instance.k8s_name.clone();
        match event.listed.queue_position {
            Some(position) => drop(told.insert(name, position)),
            None => drop(told.remove(&name)),
        }
        told == expected
    })
    .await;
}

#[tokio::test]
async fn lagging_subscriber_receives_current_queue_positions() {
    let (world, names) = long_line().await;
    let mut slow = Box::pin(world.launcher.subscribe(&caller("admin"), None));
    until_in_line(&mut slow, &names[1..]).await;
    // All queue positions change while the slow subscriber does not read.
    let mut quick = Box::pin(world.launcher.subscribe(&caller("admin"), None));
    world.fleet.ready(&names[0]);
    let last = names.last().unwrap();
    next(&mut quick, |event| event.listed.instance.k8s_name == *last && event.listed.queue_position == Some(LONG - 1))
        .await;
    until_in_line(&mut slow, &names[2..]).await;
}

#[tokio::test]
async fn ended_instance_is_not_sent_as_queued_again() {
    let (world, names) = long_line().await;
    let (admin, last) = (caller("admin"), names.last().unwrap());
    let mut slow = Box::pin(world.launcher.subscribe(&admin, None));
    let mut quick = Box::pin(world.launcher.subscribe(&admin, None));
    next(&mut slow, |_| true).await;
    let is_last = |event: &FeedEvent| event.listed.instance.k8s_name == *last;
    let has_ended = |event: &FeedEvent| is_last(event) && event.listed.instance.state == InstanceState::Terminated;
    next(&mut quick, |event| is_last(event) && event.listed.queue_position == Some(LONG)).await;
    world.fleet.ready(&names[0]);
    next(&mut quick, |event| is_last(event) && event.listed.queue_position == Some(LONG - 1)).await;
    world.launcher.terminate(&admin, last).await.unwrap();
    next(&mut quick, has_ended).await;

    next(&mut slow, has_ended).await;
    let later = world.launch(&admin).await.k8s_name;
    let told = next(&mut slow, |event| is_last(event) || event.listed.instance.k8s_name == later).await;
    assert_eq!(told.listed.instance.k8s_name, later, "an ended instance is reported only once");
}

#[tokio::test]
async fn resumed_feed_sends_queue_position_changed_while_disconnected() {
    let world = World::with(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let admin = caller("admin");
    let first = world.launch(&admin).await.k8s_name;
    world.until(&first, InstanceState::Starting).await;
    let second = world.launch(&admin).await.k8s_name;
    let waiting = world.launch(&caller("alice")).await.k8s_name;
    let mut feed = Box::pin(world.launcher.subscribe(&caller("alice"), None));
    let seen = next(&mut feed, |event| event.listed.queue_position == Some(2)).await.id;
    drop(feed);
    world.launcher.terminate(&admin, &second).await.unwrap();
    let mut admins = Box::pin(world.launcher.subscribe(&admin, None));
    next(&mut admins, |event| event.listed.instance.k8s_name == waiting && event.listed.queue_position == Some(1))
        .await;
    let mut resumed = Box::pin(world.launcher.subscribe(&caller("alice"), Some(seen)));
    next(&mut resumed, |event| event.listed.queue_position == Some(1)).await;
}

/// Creates `count` instances, and waits until they are starting. Returns their names in launch order.
async fn starting(world: &mut World, count: u32) -> Vec<String> {
    world.kill().await;
    let mut names = vec![world.launch(&caller("admin")).await.k8s_name];
    names.extend(world.copy_instance(&names[0], count - 1).await);
    world.start();
    for name in &names {
        world.until(name, InstanceState::Starting).await;
    }
    names
}

/// Number of instances: their changes do not fit into one batch of the feed.
const MANY: u32 = 300;

#[tokio::test]
async fn new_subscriber_receives_each_live_instance_once_in_order() {
    let mut world = World::with(Limits { max_concurrent_starts: 1000, ..Limits::default() }).await;
    let names = starting(&mut world, MANY).await;
    let [changed, ended] = [&names[names.len() - 2], &names[names.len() - 1]];
    world.workshop(changed).await;
    let mut feed = Box::pin(world.launcher.subscribe(&caller("admin"), None));
    let mut told = vec![next(&mut feed, |_| true).await];
    // These instances change while the subscriber still has many older events to read.
    world.fleet.ready(changed);
    world.until(changed, InstanceState::Running).await;
    world.launcher.terminate(&caller("admin"), ended).await.unwrap();
    world.until(ended, InstanceState::Terminated).await;
    while told.last().unwrap().listed.instance.state != InstanceState::Terminated {
        told.push(next(&mut feed, |_| true).await);
    }
    assert!(told.is_sorted_by_key(|event| event.id), "a client that resumes after an event misses no earlier one");
    let count = |name: &String| told.iter().filter(|event| event.listed.instance.k8s_name == *name).count();
    assert!(
        names.iter().all(|name| count(name) == 1),
        "each instance is reported once, also if it changed after the first event"
    );
}

#[tokio::test]
async fn unreadable_row_does_not_hide_later_rows_from_feed() {
    let mut world = World::with(Limits { max_concurrent_starts: 1000, ..Limits::default() }).await;
    let (admin, names) = (caller("admin"), starting(&mut world, MANY).await);
    world.damage(&names[0]).await;
    let mut feed = Box::pin(world.launcher.subscribe(&admin, Some(0)));
    next(&mut feed, |event| event.listed.instance.k8s_name == *names.last().unwrap()).await;
}
