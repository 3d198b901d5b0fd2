//! Helpers of all tests: fresh databases, and functions that create rows.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use launcher_domain::template::TemplateSettings;
use launcher_domain::{
    Act, AdminList, Caller, EmailAddress, EndReason, Instance, Listing, SecretValues, Template, TemplateContent,
};
use launcher_store::{IdempotencyKey, LaunchOutcome, LaunchRules, Page, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) use crate::copies::copy_instance;

/// Launches that a test requests at the same time.
pub(crate) const AT_ONCE: usize = 50;
pub(crate) const NO_LIMITS: LaunchRules =
    LaunchRules { max_per_user: None, rate: None, max_queued: u32::MAX, max_storage_gib: None, class: None };
pub(crate) const ALL_ENTRIES: Page<i64> = Page { limit: 10_000, after: None };
pub(crate) const EVERYTHING: Page = Page { limit: 10_000, after: None };

/// An empty database. Dropping this value deletes it.
pub(crate) struct Database {
    pub(crate) url: String,
    _held: Held,
}

#[expect(dead_code, reason = "the fields are only dropped: this removes the database")]
enum Held {
    Folder(TempDir),
    #[cfg(feature = "test-postgres")]
    OfServer(crate::server::FreshDatabase),
}

pub(crate) fn sqlite() -> Database {
    // In memory if possible: SQLite waits for the disk at each commit.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let url = format!("sqlite://{}", folder.path().join("launcher.db").display());
    Database { url, _held: Held::Folder(folder) }
}

#[cfg(feature = "test-postgres")]
pub(crate) async fn postgres() -> Database {
    let database = crate::server::FreshDatabase::create().await;
    Database { url: database.url(), _held: Held::OfServer(database) }
}

/// Returns one empty database per engine.
pub(crate) async fn databases() -> Vec<Database> {
    vec![
        sqlite(),
        #[cfg(feature = "test-postgres")]
        postgres().await,
    ]
}

/// Runs a test on a fresh store per engine, in which [`template`] 1 is stored.
pub(crate) async fn on_every_engine(test: impl AsyncFn(Store)) {
    on_every_database(async |store, _| test(store).await).await;
}

/// Runs a test like [`on_every_engine`], also with the URL of the database. The test must not change the schema.
pub(crate) async fn on_every_database(test: impl AsyncFn(Store, &str)) {
    let run = async |url: &str| {
        let store = Store::open(url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        test(store.clone(), url).await;
        store.close().await;
    };
    run(&sqlite().url).await;
    #[cfg(feature = "test-postgres")]
    {
        let database = crate::reused::Reused::take().await;
        run(&database.url()).await;
        database.give_back().await;
    }
}

/// Returns a time this many seconds after a fixed start.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + seconds).unwrap()
}

pub(crate) fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

/// Returns a caller; `root@example.org` is the admin.
pub(crate) fn caller(text: &str) -> Caller {
    AdminList::parse("root@example.org").unwrap().caller(email(text))
}

pub(crate) fn alice() -> Caller {
    caller("alice@example.org")
}

pub(crate) fn bob() -> Caller {
    caller("bob@example.org")
}

pub(crate) fn admin() -> Caller {
    caller("root@example.org")
}

fn settings() -> TemplateSettings {
    let body = json!({
        "name": "Statistics \"I\"; DROP TABLE workshop_instances; --",
        "description": "ünïcode, 'quotes' and\nlines",
        "app_type": "notebook",
        "image": "quay.io/jupyter/base-notebook:latest",
        "command": ["start.sh"],
        "args": ["--flag={}", "$1"],
        "env": { "COURSE": "a\"b\\c" },
        "pod_template": { "spec": { "nodeSelector": { "disk": "ssd" } } },
    });
    TemplateContent::read(body.as_object().unwrap()).unwrap().settings
}

/// Returns a template with this number as its identifier; number 1 is in every test database.
pub(crate) fn template(number: u128) -> Template {
    Template {
        template_id: Uuid::from_u128(number),
        class_id: None,
        settings: settings(),
        listing: Listing::default(),
        active: true,
        version: 1,
        created_by: email("root@example.org"),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// Returns an instance to launch, with a unique name and identifier. Identifiers increase from call to call, and follow
/// those of [`copy_instance`].
pub(crate) fn instance(owner: &str) -> Instance {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let instance_id = Uuid::from_u128((1 << 44) + u128::from(number));
    Instance::queued(instance_id, format!("statistics-{number:010}"), email(owner), &template(1), at(0))
}

pub(crate) fn key(key: &str, body_hash: &str) -> IdempotencyKey {
    IdempotencyKey { key: key.to_owned(), body_hash: body_hash.to_owned() }
}

/// Launches by owners, without secret parameters.
pub(crate) trait LaunchOwn {
    async fn launch_own(
        &self,
        instance: &Instance,
        rules: &LaunchRules,
        key: Option<&IdempotencyKey>,
    ) -> Result<LaunchOutcome, StoreError>;
}

impl LaunchOwn for Store {
    async fn launch_own(
        &self,
        instance: &Instance,
        rules: &LaunchRules,
        key: Option<&IdempotencyKey>,
    ) -> Result<LaunchOutcome, StoreError> {
        self.launch(None, instance, &SecretValues::default(), rules, key).await
    }
}

/// Launches an instance for this owner without limits.
pub(crate) async fn launched(store: &Store, owner: &str) -> Instance {
    created(store.launch_own(&instance(owner), &NO_LIMITS, None).await.unwrap())
}

pub(crate) fn created(outcome: LaunchOutcome) -> Instance {
    match outcome {
        LaunchOutcome::Created(instance) => instance,
        other => panic!("not created: {other:?}"),
    }
}

/// Returns the actor and time of a change by the service, 500 s after the fixed start.
pub(crate) fn by_the_service() -> Act {
    Act { actor_email: None, at: at(500) }
}

/// Changes an instance, and panics if the change conflicts with a concurrent one.
pub(crate) async fn changed(store: &Store, before: &Instance, change: impl FnOnce(&mut Instance)) -> Instance {
    let mut after = before.clone();
    change(&mut after);
    store.change_instance(before, &after, &by_the_service()).await.unwrap().expect("no concurrent change")
}

/// Terminates a queued instance at this time.
pub(crate) async fn ended(store: &Store, before: &Instance, seconds: i64) -> Instance {
    let after = before.terminate(EndReason::Owner, at(seconds)).unwrap();
    store.change_instance(before, &after, &by_the_service()).await.unwrap().expect("no concurrent change")
}

pub(crate) fn names<'a>(instances: impl IntoIterator<Item = &'a Instance>) -> Vec<&'a str> {
    instances.into_iter().map(|instance| instance.k8s_name.as_str()).collect()
}
