//! Test support: an engine, an image with BusyBox, and containers that disappear with the test.

pub(crate) mod archive;
pub(crate) mod faulty_engine;
pub(crate) mod fleet;

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bollard::models::{ContainerCreateBody, HostConfig, ResourcesUlimits};
use bollard::query_parameters::{CreateImageOptions, LogsOptions};
use bollard::{API_DEFAULT_VERSION, Docker, body_full};
use futures_util::TryStreamExt;
use launcher_fleet::engine::{ContainerState, Engine, Part};
use tokio::sync::OnceCell;
use tokio::time::{sleep, timeout};

/// Image with BusyBox and a user database, which the tests import into the engine.
pub(crate) const IMAGE: &str = "localhost/launcher-engine-test:1";
/// Timeout of every wait in a test. It only bounds a hang.
const DEADLINE: Duration = Duration::from_mins(3);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn socket() -> PathBuf {
    std::env::var_os("TEST_ENGINE_SOCKET").expect("TEST_ENGINE_SOCKET names the socket of a container engine").into()
}

/// A client of the engine.
pub(crate) fn engine() -> Engine {
    Engine::connect(&socket()).unwrap()
}

/// A second client of the engine, for requests that the client under test does not have.
pub(crate) fn docker() -> Docker {
    Docker::connect_with_unix(socket().to_str().unwrap(), 120, API_DEFAULT_VERSION).unwrap()
}

/// A fleet of one test. The drop removes its containers.
pub(crate) struct TestFleet {
    pub(crate) engine: Engine,
    pub(crate) id: String,
}

impl TestFleet {
    /// Connects to the engine, and imports the image.
    pub(crate) async fn new() -> Self {
        static FLEETS: AtomicU32 = AtomicU32::new(0);
        static IMPORTED: OnceCell<()> = OnceCell::const_new();
        IMPORTED.get_or_init(import_image).await;
        let id = format!("test{}x{}", std::process::id(), FLEETS.fetch_add(1, Ordering::Relaxed));
        Self { engine: engine(), id }
    }

    /// Returns the name of a container of this test.
    pub(crate) fn name(&self, suffix: &str) -> String {
        format!("wl-{}-{suffix}", self.id)
    }

    /// Returns the labels of a container.
    pub(crate) fn labels(&self, workshop: &str, uid: &str, part: Part) -> HashMap<String, String> {
        [("fleet", self.id.as_str()), ("workshop", workshop), ("uid", uid), ("part", part.as_str())]
            .map(|(name, value)| (format!("workshoplauncher.dev/{name}"), value.to_owned()))
            .into()
    }

    /// Returns the app's container of the workshop `lab`, with this command.
    pub(crate) fn body(&self, command: &[&str]) -> ContainerCreateBody {
        ContainerCreateBody {
            image: Some(IMAGE.to_owned()),
            entrypoint: Some(command.iter().map(|&word| word.to_owned()).collect()),
            labels: Some(self.labels("lab", "uid-1", Part::App)),
            host_config: Some(host_config()),
            ..ContainerCreateBody::default()
        }
    }

    /// Creates and starts a container that runs this script.
    pub(crate) async fn run(&self, suffix: &str, script: &str) -> String {
        let name = self.name(suffix);
        self.engine.create(&name, self.body(&["/bin/sh", "-c", script])).await.unwrap();
        self.engine.start(&name).await.unwrap();
        name
    }

    pub(crate) async fn state(&self, name: &str) -> ContainerState {
        self.engine.inspect(name).await.unwrap().expect("the container exists")
    }

    /// Waits for the end of a container.
    pub(crate) async fn ended(&self, name: &str) -> ContainerState {
        poll(async || {
            let state = self.state(name).await;
            (state.started && !state.running).then_some(state)
        })
        .await
    }

    /// Waits until the log of a container has this text.
    pub(crate) async fn logged(&self, name: &str, text: &str) {
        until(async || self.engine.log_tail(name).await.unwrap().unwrap_or_default().contains(text)).await;
    }

    /// Returns the whole output of a container.
    pub(crate) async fn log(&self, name: &str) -> String {
        let options = LogsOptions { stdout: true, stderr: true, tail: "all".to_owned(), ..LogsOptions::default() };
        let output: Vec<_> = docker().logs(name, Some(options)).try_collect().await.unwrap();
        output.iter().map(ToString::to_string).collect()
    }

    async fn clean_up(engine: Engine, id: String) {
        for container in engine.list(&id).await.unwrap() {
            engine.remove(&container.name).await.unwrap();
        }
    }
}

impl Drop for TestFleet {
    fn drop(&mut self) {
        let (engine, id) = (self.engine.clone(), self.id.clone());
        let cleaned = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(Self::clean_up(engine, id));
        });
        let cleaned = cleaned.join();
        assert!(std::thread::panicking() || cleaned.is_ok(), "the containers of the test are not removed");
    }
}

/// No network. Limits that every machine permits: the engines' defaults need a capability that root may lack.
pub(crate) fn host_config() -> HostConfig {
    let limit = |name: &str| ResourcesUlimits { name: Some(name.to_owned()), soft: Some(1024), hard: Some(1024) };
    HostConfig {
        network_mode: Some("none".to_owned()),
        ulimits: Some(vec![limit("nofile"), limit("nproc")]),
        ..HostConfig::default()
    }
}

pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("the wait is too long")
}

/// Polls until `look` returns a value, and returns it.
pub(crate) async fn poll<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    in_time(async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            sleep(POLL_INTERVAL).await; // pacing: a poll loop
        }
    })
    .await
}

/// Polls until `look` returns true.
pub(crate) async fn until(mut look: impl AsyncFnMut() -> bool) {
    poll(async || look().await.then_some(())).await;
}

async fn import_image() {
    import(IMAGE, None).await;
}

/// Imports an image with BusyBox, and with this script at this path.
pub(crate) async fn import(image: &str, script: Option<(&str, &str)>) {
    let program = busybox();
    let mut archive = archive::Archive::default();
    for directory in ["bin", "etc", "tmp", "volume"] {
        archive.directory(directory);
    }
    archive.file("bin/busybox", 0o755, &std::fs::read(&program).unwrap());
    for library in libraries(&program) {
        archive.file(library.trim_start_matches('/'), 0o755, &std::fs::read(&library).unwrap());
    }
    for applet in ["sh", "sleep", "cat", "cut", "id", "grep", "seq", "true"] {
        archive.link(&format!("bin/{applet}"), "busybox");
    }
    archive.file("etc/passwd", 0o644, b"root:x:0:0:root:/:/bin/sh\n");
    if let Some((path, text)) = script {
        archive.file(path, 0o755, text.as_bytes());
    }
    let options = CreateImageOptions {
        from_src: Some("-".to_owned()),
        repo: Some(image.to_owned()),
        ..CreateImageOptions::default()
    };
    let messages = docker().create_image(Some(options), Some(body_full(archive.finish().into())), None);
    messages.try_collect::<Vec<_>>().await.unwrap();
}

/// Returns the paths of the shared libraries of a program; none if it is static.
fn libraries(program: &Path) -> Vec<String> {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    text.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect()
}

/// Returns the path of BusyBox.
fn busybox() -> PathBuf {
    let candidates = ["/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox"];
    let found = candidates.into_iter().map(Path::new).find(|path| path.exists());
    found.expect("install BusyBox, for example the Debian package busybox").to_owned()
}
