//! Tests of copying all rows from one database into another.

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{
    ArchiveToken, Crash, FailureCode, Instance, InstanceSnapshot, Listing, MaterialReport, Scope, SourceReport,
    StorageKind, Template,
};
use launcher_store::{ActivityFilter, FleetBinding, InstanceFilter, LaunchOutcome, StateFilter, Store, StoreError};

use crate::support::*;

/// Returns all data of a store, read through its public functions.
async fn everything(store: &Store) -> impl PartialEq + std::fmt::Debug + use<> {
    let all = InstanceFilter { state: StateFilter::All, ..InstanceFilter::default() };
    (
        store.templates(None, true, &EVERYTHING).await.unwrap(),
        (
            store.classes(&admin(), false, &EVERYTHING).await.unwrap(),
            store.memberships(&crate::classes::class(9)).await.unwrap(),
            store.templates(Some(crate::classes::class(9).class_id), true, &EVERYTHING).await.unwrap(),
            store.attention(crate::classes::class(9).class_id).await.unwrap(),
            store.feed_classes(0).await.unwrap(),
        ),
        store.instances(&admin(), &all, &EVERYTHING).await.unwrap(),
        store.feed_since(Scope::Everyone, 0, 10_000).await.unwrap().listed,
        store.feed_latest().await.unwrap(),
        store.volumes(&admin(), None, &EVERYTHING).await.unwrap(),
        store.snapshots(&admin(), None, &EVERYTHING).await.unwrap(),
        store.queue(Scope::Everyone).await.unwrap(),
        store.dispatch_pending(0, 10_000).await.unwrap(),
        store.count_states().await.unwrap(),
        store.bound_fleet().await.unwrap(),
        store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap(),
    )
}

/// Returns a store with a value in every table and column, and more than one batch of rows.
async fn filled(url: &str) -> Store {
    let store = small(url).await;
    let queued = store.queue(Scope::Everyone).await.unwrap().remove(0);
    copy_instance(url, &queued.instance.k8s_name, 514).await;
    store
}

/// Returns a store with a value in every table and column, and seven instances.
async fn small(url: &str) -> Store {
    let store = Store::open(url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    store.create_template(&template(2), None).await.unwrap();
    let listing = Listing {
        tags: vec!["ünïcode".to_owned()],
        unlisted: true,
        slug: Some("statistics-1".to_owned()),
        ..Listing::default()
    };
    let archived = Template { active: false, listing, version: 2, updated_at: at(5), ..template(2) };
    assert!(store.save_template(&template(2), &archived, &admin(), None).await.unwrap());
    let class = crate::classes::created_class(&store, 9, "alice@example.org", "bob@example.org").await;
    let link = crate::join::link(&class, 1, "abcdefghij", &serde_json::json!({ "seats": 3 }));
    assert!(store.replace_join_link(&class, Some(&link), &admin(), at(0)).await.unwrap());
    crate::hands::noticed(&store, &class).await;
    store.bind_fleet("here").await.unwrap();
    for number in 0..5 {
        launched(&store, &format!("user{number}@example.org")).await;
    }
    let mut with_volume = crate::volumes::draft("user5@example.org", StorageKind::Kept, 1);
    with_volume.parameters = crate::parameters::draft().parameters;
    let secrets = crate::parameters::secrets();
    created(store.launch(None, &with_volume, &secrets, &NO_LIMITS, None).await.unwrap());
    let in_class = Instance { class_id: Some(class.class_id), ..instance("alice@example.org") };
    let launch = store.launch_own(&in_class, &NO_LIMITS, Some(&key("key", "hash"))).await.unwrap();
    let row = ended(&store, &created(launch), 60).await;
    changed(&store, &row, |row| row.report.log_tail = Some("line 1\nline 2 \u{1f600}".to_owned())).await;
    store.save_snapshot(&crate::snapshots::snapshot("alice@example.org", 1, 1000)).await.unwrap();
    let promoted = store.dispatch_promote_queued(3, at(10)).await.unwrap();
    store.dispatch_applied(promoted[0].instance_id, 1, Some("uid-1")).await.unwrap();
    let running = store.observe_instance(&promoted[0].k8s_name).await.unwrap().unwrap();
    changed(&store, &running, |row| {
        (row.started_at, row.expires_at, row.report.url) = (Some(at(20)), Some(at(30)), Some("https://a".to_owned()));
        row.report.frame_url = Some("https://a/_launcher/frame".to_owned());
        row.report.start_progress = Some(1);
        (row.outdated, row.restarted_at) = (true, Some(at(25)));
        row.raised_max_lifetime_seconds = Some(36_000);
        row.report.last_crash = Some(Crash { at: at(22), code: FailureCode::Crashed, files_lost: false });
        row.snapshot = Some(InstanceSnapshot::planned(ArchiveToken::random(&SystemEntropy)));
        row.report.material = Some(MaterialReport { sources: vec![SourceReport::failed("data", "It is down.")] });
    })
    .await;
    store
}

/// Returns all pairs of engines, each with a database to copy from and one to copy to.
async fn pairs() -> Vec<(Database, Database)> {
    let mut pairs = Vec::new();
    for place in 0..databases().await.len() {
        for to in databases().await {
            pairs.push((databases().await.swap_remove(place), to));
        }
    }
    pairs
}

#[tokio::test]
async fn copy_has_all_rows_and_accepts_launches() {
    for (source, target) in pairs().await {
        let from = filled(&source.url).await;
        let to = Store::open(&target.url).await.unwrap();
        let copied = from.copy_to(&to, FleetBinding::Keep).await.unwrap();

        let expected = [
            ("classes", 1),
            ("class_members", 2),
            ("class_hands", 1),
            ("class_messages", 1),
            ("class_links", 1),
            ("workshop_templates", 3),
            ("template_settings", 2),
            ("workshop_instances", 521),
            ("idempotency_keys", 1),
            ("activities", 532),
            ("launch_gate", 521),
            ("volumes", 1),
            ("snapshots", 1),
            ("fleet_binding", 1),
        ];
        assert_eq!(copied, expected);
        assert_eq!(everything(&to).await, everything(&from).await);
        let with_secrets = from.volumes(&admin(), None, &EVERYTHING).await.unwrap().remove(0).volume.volume_id;
        let secrets = crate::parameters::secrets();
        assert_eq!(to.dispatch_secrets(with_secrets).await.unwrap(), secrets);
        let again = to.launch_own(&instance("alice@example.org"), &NO_LIMITS, Some(&key("key", "hash"))).await.unwrap();
        assert!(matches!(again, LaunchOutcome::Replayed(_)), "{again:?}");
        let latest = to.feed_latest().await.unwrap();
        assert_eq!(launched(&to, "alice@example.org").await.revision, latest + 1);
        to.close().await;
        from.close().await;
    }
}

#[tokio::test]
async fn copy_to_non_empty_database_is_refused() {
    for target in databases().await {
        let source = sqlite();
        let from = small(&source.url).await;
        let to = Store::open(&target.url).await.unwrap();
        to.bind_fleet("there").await.unwrap();
        let refused = from.copy_to(&to, FleetBinding::Keep).await;
        assert!(matches!(refused, Err(StoreError::NotEmpty { table: "fleet_binding" })), "{refused:?}");
        assert_eq!(to.bound_fleet().await.unwrap().as_deref(), Some("there"));
        assert_eq!(to.feed_latest().await.unwrap(), 0);

        to.create_template(&template(7), None).await.unwrap();
        let refused = from.copy_to(&to, FleetBinding::Keep).await;
        assert!(matches!(refused, Err(StoreError::NotEmpty { table: "change_counter" })), "{refused:?}");
        assert_eq!(to.templates(None, true, &EVERYTHING).await.unwrap(), [template(7)]);

        let mut draft = instance("alice@example.org");
        draft.template_id = template(7).template_id;
        let row = created(to.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        let refused = from.copy_to(&to, FleetBinding::Keep).await;
        assert!(matches!(refused, Err(StoreError::NotEmpty { table: "change_counter" })), "{refused:?}");
        assert_eq!(to.observe_instance(&row.k8s_name).await.unwrap(), Some(row));
        to.close().await;
        from.close().await;
    }
}

#[tokio::test]
async fn copy_of_unused_database_is_refused() {
    for (source, target) in pairs().await {
        let (from, to) = (Store::open(&source.url).await.unwrap(), Store::open(&target.url).await.unwrap());
        assert!(matches!(from.copy_to(&to, FleetBinding::Keep).await, Err(StoreError::NothingToCopy)));
        from.close().await;
        to.close().await;
    }
}

#[tokio::test]
async fn copy_for_new_fleet_has_no_fleet_binding() {
    for target in databases().await {
        let source = sqlite();
        let (from, to) = (small(&source.url).await, Store::open(&target.url).await.unwrap());
        let copied = from.copy_to(&to, FleetBinding::Clear).await.unwrap();
        assert!(copied.iter().all(|(table, _)| *table != "fleet_binding"), "{copied:?}");
        assert_eq!(to.bound_fleet().await.unwrap(), None);
        assert_eq!(to.count_states().await.unwrap(), from.count_states().await.unwrap());
        assert_eq!(from.bound_fleet().await.unwrap().as_deref(), Some("here"), "the original stays as it is");
        from.close().await;
        to.close().await;
    }
}

#[cfg(feature = "test-postgres")]
#[tokio::test]
async fn copy_to_slow_database_succeeds() {
    use sqlx::{AnyConnection, Connection, Executor};

    // A trigger delays the writes: one batch, the seven rows, takes 11 s. The server's idle timeout for a write
    // transaction is 10 s.
    const FAR_AWAY: &str = "
        CREATE FUNCTION far_away() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_sleep(1.6); RETURN NEW; END $$;
        CREATE TRIGGER far_away BEFORE INSERT ON workshop_instances FOR EACH ROW EXECUTE FUNCTION far_away()";
    let (source, target) = (postgres().await, postgres().await);
    let (from, to) = (small(&source.url).await, Store::open(&target.url).await.unwrap());
    let mut other = AnyConnection::connect(&target.url).await.unwrap();
    other.execute(FAR_AWAY).await.unwrap();
    other.close().await.unwrap();
    from.copy_to(&to, FleetBinding::Keep).await.unwrap();
    assert_eq!(everything(&to).await, everything(&from).await);
    from.close().await;
    to.close().await;
}
