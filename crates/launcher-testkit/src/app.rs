//! The application under test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use launcher_api::{ApiProcess, ApiSettings};
use launcher_domain::{AdminList, EmailAddress, TemplatePolicy};
use launcher_fleet::Fleet;
use launcher_process::listener::listen;
use launcher_process::serve::{ServeLimits, serve_http};
use launcher_process::settings::from_arguments;
use launcher_process::stop::Stop;
use launcher_service::{Fleets, InstanceFilter, Launcher, Limits, Page, Snapshots, StateFilter};
use launcher_snapshots::{Location, SnapshotStore};
use launcher_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{Client, DEADLINE, FakeFleet, TestClock, TestEntropy, eventually, memory_folder};

/// A user.
pub const ALICE: &str = "alice@example.org";
/// Another user.
pub const BOB: &str = "bob@example.org";
/// The administrator.
pub const ADMIN: &str = "admin@example.org";

/// Settings of the application that a test can change.
#[derive(Debug, Clone)]
pub struct Options {
    /// The limits of the service.
    pub limits: Limits,
    /// True if the fleet makes a Workshop ready as soon as it is applied.
    pub runs_at_once: bool,
    /// True if the fleet has images, as the container fleet does.
    pub has_images: bool,
    /// Namespaces that classes can have.
    pub class_namespaces: &'static [&'static str],
    /// True if the ends of workshops save their files in a folder.
    pub saves_snapshots: bool,
    /// Arguments of the API's settings, which replace those of the application under test.
    pub settings: Vec<String>,
    /// State of the process, and properties of the fleet.
    pub process: ApiProcess,
    /// What templates may use.
    pub policy: TemplatePolicy,
    /// URL of an empty database; `None` for a SQLite file.
    pub database: Option<String>,
    /// Maximum number of instances that one search or count examines; `None` for the store's default.
    pub max_examined: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            runs_at_once: true,
            has_images: false,
            class_namespaces: &[],
            saves_snapshots: false,
            settings: Vec::new(),
            process: ApiProcess::default(),
            policy: TemplatePolicy::default(),
            database: None,
            max_examined: None,
        }
    }
}

impl Options {
    /// Returns the default options with these arguments of the API's settings, as in `--help-url=/help`.
    #[must_use]
    pub fn with_settings(arguments: &[&str]) -> Self {
        Self { settings: arguments.iter().map(ToString::to_string).collect(), ..Self::default() }
    }
}

/// The application and its clients.
#[derive(Debug)]
pub struct Users {
    /// The application.
    pub app: TestApp,
    /// Client without an identity.
    pub unauthenticated: Client,
    /// Client of Alice, a user.
    pub alice: Client,
    /// Client of Bob, another user.
    pub bob: Client,
    /// Client of the administrator.
    pub admin: Client,
}

/// The application under test, with a real listener, router and database, and a fleet that the test controls.
///
/// Call [`TestApp::finish`] at the end of each test: it checks that no Workshop is orphaned.
#[derive(Debug)]
pub struct TestApp {
    /// Address of its listener.
    pub addr: SocketAddr,
    /// Its use cases.
    pub launcher: Launcher,
    /// Its fleet.
    pub fleet: FakeFleet,
    /// Its clock.
    pub clock: Arc<TestClock>,
    /// Its random numbers.
    pub entropy: Arc<TestEntropy>,
    store: Store,
    server: JoinHandle<()>,
    loops: JoinHandle<()>,
    loops_stop: CancellationToken,
    stop: Stop,
    finished: bool,
    _folder: TempDir,
}

/// Returns a folder for snapshots, which are deleted after a week.
fn snapshots(folder: &TempDir) -> Snapshots {
    let store = SnapshotStore::open(&Location::Folder(folder.path().join("snapshots"))).unwrap();
    Snapshots { store, retention: Duration::from_secs(7 * 24 * 3600) }
}

impl TestApp {
    /// Starts the application with default options.
    pub async fn start() -> Users {
        Self::start_with(Options::default()).await
    }

    /// Starts the application with these options.
    pub async fn start_with(options: Options) -> Users {
        let folder = memory_folder();
        let file = || format!("sqlite://{}", folder.path().join("launcher.db").display());
        let store = Store::open(&options.database.clone().unwrap_or_else(file)).await.unwrap();
        let store = options.max_examined.into_iter().fold(store, Store::examining_at_most);
        let clock = Arc::new(TestClock::default());
        let fleet = FakeFleet::new(clock.clone(), options.runs_at_once);
        if options.has_images {
            fleet.add_images();
        }
        let entropy = Arc::new(TestEntropy::default());
        let of_class = |namespace: &&str| {
            let fleet: Arc<dyn Fleet> = Arc::new(FakeFleet::new(clock.clone(), options.runs_at_once));
            ((*namespace).to_owned(), fleet)
        };
        let of_classes = options.class_namespaces.iter().map(of_class).collect();
        let launcher = Launcher::new(
            store.clone(),
            Fleets::from(Arc::new(fleet.clone())).with_classes(of_classes),
            clock.clone(),
            entropy.clone(),
            options.limits,
            options.policy.clone(),
            options.saves_snapshots.then(|| snapshots(&folder)),
        );
        let limits = ServeLimits::service();
        let listener = listen(([127, 0, 0, 1], 0).into(), &limits.listen_options()).unwrap();
        let addr = listener.local_addr().unwrap();
        let stop = Stop::new();
        let settings = settings(&options, addr);
        let person = |identity| Client::new(addr, &settings.base_path, identity);
        let (unauthenticated, alice, bob, admin) =
            (person(None), person(Some(ALICE)), person(Some(BOB)), person(Some(ADMIN)));
        let process = ApiProcess { stop: stop.token(), ..options.process };
        let router = launcher_api::router(launcher.clone(), settings, process);
        let server = tokio::spawn(serve_http(listener, stop.clone(), limits, move |request: http::Request<_>, _| {
            let answer = router.clone().oneshot(request.map(axum::body::Body::new));
            async move {
                let Ok(response) = answer.await;
                response.map(|body| body.map_err(Into::into).boxed_unsync())
            }
        }));
        let loops_stop = CancellationToken::new();
        let loops = tokio::spawn({
            let (launcher, stop) = (launcher.clone(), loops_stop.clone());
            async move { launcher.run(stop).await }
        });
        let app = Self {
            addr,
            launcher,
            fleet,
            clock,
            entropy,
            store,
            server,
            loops,
            loops_stop,
            stop,
            finished: false,
            _folder: folder,
        };
        Users { app, unauthenticated, alice, bob, admin }
    }

    /// Creates an active template as this administrator. Returns its identifier.
    pub async fn template(&self, admin: &Client) -> String {
        let created = admin.post_json("/templates/", &template_body()).await.expect(201);
        created.json()["template_id"].as_str().unwrap().to_owned()
    }

    /// Launches an instance as this user, and waits until it is in this state. Returns the instance's name.
    pub async fn launched(&self, person: &Client, template_id: &str, state: &str) -> String {
        let launched = person.post(&format!("/templates/{template_id}/launch")).await.expect(201);
        let name = launched.json()["k8s_name"].as_str().unwrap().to_owned();
        self.reaches(person, &name, state).await;
        name
    }

    /// Waits until an instance is in this state. Returns the instance.
    pub async fn reaches(&self, person: &Client, name: &str, state: &str) -> Value {
        eventually(async || {
            let instance = person.get(&format!("/instances/{name}")).await.expect(200).json();
            (instance["state"] == state).then_some(instance)
        })
        .await
    }

    /// Makes a running instance outdated, as after an upgrade of the fleet. Returns the instance.
    pub async fn outdated(&self, person: &Client, name: &str) -> Value {
        self.fleet.outdate(name);
        eventually(async || {
            let instance = person.get(&format!("/instances/{name}")).await.expect(200).json();
            (instance["outdated"] == true).then_some(instance)
        })
        .await
    }

    /// Closes the database of the running application.
    pub async fn close_database(&self) {
        self.store.close().await;
    }

    /// Requests the graceful stop of the application: requests in flight may finish.
    pub fn request_stop(&self) {
        self.stop.request();
    }

    /// Checks that each Workshop has a row, and stops the application.
    ///
    /// # Panics
    /// A Workshop is orphaned, or a loop has panicked.
    pub async fn finish(mut self) {
        self.finished = true;
        if self.launcher.ready().await.is_ok() {
            eventually(async || (self.orphans().await.is_empty()).then_some(())).await;
        }
        assert!(self.stop.finish(DEADLINE).await, "requests were still in flight");
        (&mut self.server).await.unwrap();
        self.loops_stop.cancel();
        (&mut self.loops).await.unwrap();
        self.store.close().await;
    }

    /// Returns the names of Workshops without a row.
    async fn orphans(&self) -> Vec<String> {
        let everybody = AdminList::parse(ADMIN).unwrap().caller(EmailAddress::parse(ADMIN).unwrap());
        let filter = InstanceFilter { state: StateFilter::All, owner_email: None, template_id: None, search: None };
        let rows = self.launcher.instances(&everybody, &filter, &Page { limit: 100_000, after: None }).await.unwrap();
        let wanted = |name: &String| {
            rows.iter().any(|row| row.instance.k8s_name == *name && row.instance.state.wants_workshop())
        };
        self.fleet.names().into_iter().filter(|name| !wanted(name)).collect()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        assert!(self.finished || std::thread::panicking(), "a test ends with app.finish().await");
    }
}

/// A template with a lifetime of two hours, extensible by one hour to three hours in total.
fn template_body() -> Value {
    json!({
        "name": "Statistics 101",
        "app_type": "notebook",
        "image": "quay.io/jupyter/base-notebook:latest",
        "lifetime_seconds": 7200,
        "extension_seconds": 3600,
        "max_lifetime_seconds": 10_800,
    })
}

/// Returns the API's settings: those of the application at this address, and then those of the options.
fn settings(options: &Options, addr: SocketAddr) -> ApiSettings {
    let public_url = format!("--public-url=http://localhost:{}", addr.port());
    let admins = format!("--admin-emails={ADMIN}");
    let own = [&*public_url, &*admins].into_iter();
    from_arguments(&own.chain(options.settings.iter().map(String::as_str)).collect::<Vec<_>>()).unwrap()
}
