//! Rules of [`Fleet::watch`](launcher_fleet::Fleet::watch).

use launcher_workshop::ResourceExt;

use super::harness::FleetHarness;
use super::watcher::Watcher;

pub(super) async fn watch_begins_with_all_workshops(harness: &dyn FleetHarness) {
    let (fleet, names) = (harness.fleet(), ["watch-list-a", "watch-list-b"]);
    let mut uids = Vec::new();
    for name in names {
        uids.push(fleet.apply(&harness.workshop(name)).await.unwrap().uid());
    }

    let watcher = Watcher::open(&*fleet).await;

    for (name, uid) in names.into_iter().zip(uids) {
        let known = watcher.known(name).unwrap_or_else(|| panic!("the list lacks {name}"));
        assert_eq!((known.uid(), &known.spec), (uid, &harness.workshop(name).spec));
        fleet.delete(name, None).await.unwrap();
    }
}

pub(super) async fn every_watcher_sees_every_change(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "watch-two");
    let mut watchers = [Watcher::open(&*fleet).await, Watcher::open(&*fleet).await];
    let mut wanted = harness.workshop(name);

    let uid = fleet.apply(&wanted).await.unwrap().uid();
    for watcher in &mut watchers {
        watcher.until_spec(name, &wanted.spec).await;
        assert_eq!(watcher.known(name).and_then(ResourceExt::uid), uid);
    }
    wanted.spec.expires_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
    fleet.apply(&wanted).await.unwrap();
    for watcher in &mut watchers {
        watcher.until_spec(name, &wanted.spec).await;
        assert_eq!(watcher.known(name).and_then(ResourceExt::uid), uid);
    }
    fleet.delete(name, None).await.unwrap();
    for watcher in &mut watchers {
        watcher.until_gone(name).await;
    }
}

pub(super) async fn earlier_and_later_watch_agree(harness: &dyn FleetHarness) {
    let (fleet, kept, gone) = (harness.fleet(), "watch-kept", "watch-gone");
    let mut earlier = Watcher::open(&*fleet).await;
    let mut wanted = harness.workshop(kept);
    fleet.apply(&wanted).await.unwrap();
    fleet.apply(&harness.workshop(gone)).await.unwrap();
    earlier.until_spec(gone, &harness.workshop(gone).spec).await;
    fleet.delete(gone, None).await.unwrap();
    wanted.spec.expires_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
    fleet.apply(&wanted).await.unwrap();
    earlier.until_spec(kept, &wanted.spec).await;
    earlier.until_gone(gone).await;

    let later = Watcher::open(&*fleet).await;

    // Compare only uid and spec: statuses may have changed in the meantime.
    let of = |watcher: &Watcher, name| watcher.known(name).map(|known| (known.uid(), known.spec.clone()));
    assert_eq!(of(&earlier, kept), of(&later, kept));
    assert_eq!((of(&earlier, gone), of(&later, gone)), (None, None));
    fleet.delete(kept, None).await.unwrap();
}

pub(super) async fn dropped_watch_does_not_affect_others(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "watch-dropped");
    let dropped = Watcher::open(&*fleet).await;
    let mut watcher = Watcher::open(&*fleet).await;
    drop(dropped);

    fleet.apply(&harness.workshop(name)).await.unwrap();

    watcher.until_spec(name, &harness.workshop(name).spec).await;
    fleet.delete(name, None).await.unwrap();
    watcher.until_gone(name).await;
}
