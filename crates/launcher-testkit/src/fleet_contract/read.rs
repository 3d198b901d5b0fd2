//! Rules of reading: a fleet returns exactly what was applied.

use std::collections::BTreeMap;

use launcher_workshop::ResourceExt;

use super::harness::FleetHarness;
use super::watcher::Watcher;

pub(super) async fn get_of_missing_workshop_returns_none(harness: &dyn FleetHarness) {
    assert_eq!(harness.fleet().get("read-missing").await.unwrap(), None);
}

/// The service would treat a difference as a change by another actor, and revert it repeatedly.
pub(super) async fn spec_round_trips_exactly(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "read-spec");
    let mut wanted = harness.workshop(name);
    let texts = [
        ("REFERENCES", "$(PORT) $(NOBODY) $$(PORT) $$ ${HOME} $HOME $"),
        ("QUOTES", "\"double\" 'single' `back` \\ \\\\ \\n"),
        ("LINES", "one\ntwo\r\n\n\tthree\n"),
        ("MARKUP", "{\"a\": [1, {{ b }}]} <&> %s # : - ~ null"),
        ("UNICODE", "gr\u{f6}\u{df}e \u{4e2d}\u{6587} \u{1f427} e\u{301}\u{202e}"),
        ("SPACES", "  a = b  "),
        ("EMPTY", ""),
    ];
    wanted.spec.env = texts.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    wanted.spec.args.extend(texts.map(|(_, value)| value.to_owned()));
    wanted.spec.expires_at = Some("2100-01-01T00:00:00.123Z".parse().unwrap());
    let mut watcher = Watcher::open(&*fleet).await;

    let stored = fleet.apply(&wanted).await.unwrap();

    assert_eq!(stored.spec, wanted.spec);
    assert_eq!(fleet.get(name).await.unwrap().unwrap().spec, wanted.spec);
    watcher.until_spec(name, &wanted.spec).await;
    fleet.delete(name, None).await.unwrap();
}

fn annotations() -> BTreeMap<String, String> {
    [("example.org/text", "\"gr\u{f6}\u{df}e\" $(PORT)\n"), ("example.org/empty", "")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// True if `found` has all entries of `wanted`. A fleet may add others, as Kubernetes does.
fn includes(found: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> bool {
    wanted.iter().all(|(name, value)| found.get(name) == Some(value))
}

pub(super) async fn labels_and_annotations_round_trip(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "read-metadata");
    let mut wanted = harness.workshop(name);
    wanted.labels_mut().insert("example.org/course".to_owned(), String::new());
    wanted.metadata.annotations = Some(annotations());

    let stored = fleet.apply(&wanted).await.unwrap();

    for found in [&stored, &fleet.get(name).await.unwrap().unwrap()] {
        assert!(includes(found.labels(), wanted.labels()), "{:?}", found.labels());
        assert!(includes(found.annotations(), wanted.annotations()), "{:?}", found.annotations());
    }
    fleet.delete(name, None).await.unwrap();
}

/// The service restores its labels, because it ignores a Workshop without them.
pub(super) async fn apply_restores_labels_and_annotations(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "read-restored");
    let mut wanted = harness.workshop(name);
    let labels = wanted.metadata.labels.take();
    fleet.apply(&wanted).await.unwrap();

    wanted.metadata.labels = labels;
    wanted.metadata.annotations = Some(annotations());
    let mut watcher = Watcher::open(&*fleet).await;
    fleet.apply(&wanted).await.unwrap();

    let found = fleet.get(name).await.unwrap().unwrap();
    assert!(includes(found.labels(), wanted.labels()), "{:?}", found.labels());
    assert!(includes(found.annotations(), wanted.annotations()), "{:?}", found.annotations());
    while !watcher.known(name).is_some_and(|known| includes(known.labels(), wanted.labels())) {
        watcher.next("the labels").await;
    }
    fleet.delete(name, None).await.unwrap();
}
