//! Tests of faults: a fake engine sends errors, breaks connections, or does not answer.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use bollard::models::ContainerCreateBody;
use futures_util::StreamExt;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::image::PullProgress;
use super::{Engine, EngineError, EngineInfo, EngineKind, ProcessLimits};
use crate::containers::names::{PART_LABEL, UID_LABEL};

/// A fake engine. It answers each request with the next of its answers, and from then on with the last one. It then closes
/// the connection or keeps it open.
struct FakeEngine {
    engine: Engine,
    server: JoinHandle<()>,
    directory: TempDir,
}

impl FakeEngine {
    fn new(answer: String, stays_open: bool) -> Self {
        Self::with_answers(vec![answer], stays_open)
    }

    fn with_answers(answers: Vec<String>, stays_open: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(socket(&directory)).unwrap();
        let server = tokio::spawn(async move {
            let mut open = Vec::new();
            let mut next = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                read_head(&mut stream).await;
                stream.write_all(answers[next].as_bytes()).await.unwrap();
                next = answers.len().min(next + 2) - 1;
                if stays_open {
                    open.push(stream);
                }
            }
        });
        let engine = Engine::connect(&socket(&directory)).unwrap();
        Self { engine, server, directory }
    }

    /// Answers with an error response of the engine.
    fn refusing(status: u16, message: &str) -> Self {
        Self::new(response(status, &json!({ "message": message })), false)
    }

    /// Answers with this JSON.
    fn answering(body: &serde_json::Value) -> Self {
        Self::new(response(200, body), false)
    }

    /// Answers with the start of a stream of these messages.
    fn streaming(messages: &str, stays_open: bool) -> Self {
        let length = messages.len() + 1;
        Self::new(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{messages}"), stays_open)
    }
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn response(status: u16, body: &serde_json::Value) -> String {
    let body = body.to_string();
    format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn socket(directory: &TempDir) -> PathBuf {
    directory.path().join("engine.sock")
}

async fn read_head(stream: &mut UnixStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
}

fn problem(error: &EngineError) -> &str {
    let EngineError::Unreachable { problem, .. } = error else { panic!("{error:?}") };
    problem
}

#[tokio::test]
async fn socket_without_engine_is_unreachable() {
    let fake = FakeEngine::new(String::new(), false);
    fake.server.abort();
    let error = loop {
        // The listener closes a moment after the abort.
        match fake.engine.info().await.unwrap_err() {
            error if problem(&error) == "no program listens" => break error,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(error.is_temporary());
    assert!(error.to_string().contains(fake.directory.path().to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn broken_connection_is_unreachable() {
    let fake = FakeEngine::new(String::new(), false);
    let error = fake.engine.inspect("app").await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error:?}");
    let fake = FakeEngine::new("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Id\":".to_owned(), false);
    let error = fake.engine.inspect("app").await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn engine_that_does_not_answer_is_unreachable() {
    let fake = FakeEngine::new(String::new(), true);
    let inspected = tokio::spawn({
        let engine = fake.engine.clone();
        async move { engine.inspect("app").await }
    });
    // The paused clock advances to the next timer whenever all tasks wait.
    tokio::time::pause();
    let error = inspected.await.unwrap().unwrap_err();
    assert_eq!(problem(&error), "no answer within 30 seconds");
}

#[tokio::test]
async fn statuses_of_the_engine_are_distinguished() {
    let stop = async |status, message| {
        let fake = FakeEngine::refusing(status, message);
        fake.engine.start("app").await.unwrap_err()
    };
    let text = || "text".to_owned();
    assert_eq!(stop(400, "text").await, EngineError::BadParameter(text()));
    assert_eq!(stop(404, "text").await, EngineError::NotFound(text()));
    assert_eq!(stop(409, "text").await, EngineError::Conflict(text()));
    assert_eq!(stop(500, "text").await, EngineError::Other(text()));
    let full = stop(500, "mkdir /x: no space left on device").await;
    assert!(matches!(full, EngineError::DiskFull { .. }) && full.is_temporary(), "{full:?}");
}

fn docker(storage_driver: &str, containerd_image_store: bool) -> EngineInfo {
    EngineInfo {
        kind: EngineKind::Docker,
        version: "28.0.0".to_owned(),
        memory_bytes: 1,
        cpus: 1,
        storage_driver: storage_driver.to_owned(),
        containerd_image_store,
        process_limits: ProcessLimits { open_files: 1, processes: 1 },
        misses_oom_kills: false,
    }
}

#[tokio::test]
async fn only_a_refused_limit_means_that_the_engine_cannot_limit_disk_space() {
    const NO_QUOTA: &str = "--storage-opt is supported only for overlay over xfs with 'pquota' mount option";
    let limits = async |fake: FakeEngine, info| fake.engine.limits_disk(&info, "sidecar:1", HashMap::new()).await;
    let created = || FakeEngine::answering(&json!({ "Id": "probe", "Warnings": [] }));

    assert_eq!(limits(created(), docker("overlay2", false)).await, Ok(true));
    assert_eq!(limits(FakeEngine::refusing(500, NO_QUOTA), docker("overlay2", false)).await, Ok(false));
    // These accept a limit and ignore it.
    assert_eq!(limits(created(), docker("overlayfs", true)).await, Ok(false));
    assert_eq!(limits(created(), docker("vfs", false)).await, Ok(false));
    let failed = limits(FakeEngine::refusing(500, "layer does not exist"), docker("overlay2", false)).await;
    assert_eq!(failed, Err(EngineError::Other("layer does not exist".to_owned())));
    let full = limits(FakeEngine::refusing(500, "no space left on device"), docker("overlay2", false)).await;
    assert!(matches!(full, Err(EngineError::DiskFull { .. })), "{full:?}");
}

/// A launcher was killed while the engine created a container for it. The engine has reserved the name, and has no such
/// container yet.
#[tokio::test]
async fn container_of_a_create_request_in_progress_is_found_when_it_exists() {
    let labels = |uid: &str| {
        HashMap::from([(UID_LABEL, uid), (PART_LABEL, "app")].map(|(name, value)| (name.to_owned(), value.to_owned())))
    };
    let taken = || response(409, &json!({ "message": "Conflict. The container name \"/app\" is already in use" }));
    let missing = || response(404, &json!({ "message": "No such container: app" }));
    let created =
        |uid: &str| response(200, &json!({ "State": { "Running": false }, "Config": { "Labels": labels(uid) } }));
    let create = async |uid: &str| {
        let fake = FakeEngine::with_answers(vec![taken(), missing(), taken(), missing(), taken(), created(uid)], false);
        let body = ContainerCreateBody { labels: Some(labels("uid-1")), ..ContainerCreateBody::default() };
        fake.engine.create("app", body).await
    };
    assert_eq!(create("uid-1").await, Ok(()));
    let other = create("uid-2").await;
    assert!(matches!(other, Err(EngineError::Conflict(_))), "{other:?}");
}

/// Messages of Docker Engine 20.10 with runc, and of Podman 4.3 with runc and crun.
#[tokio::test]
async fn command_errors_of_all_engines_are_recognised() {
    let messages = [
        "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: \
         exec: \"nope\": executable file not found in $PATH: unknown",
        "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: \
         exec: \"/nope\": stat /nope: no such file or directory: unknown",
        "runc: runc create failed: unable to start container process: exec: \"/etc\": permission denied: OCI permission \
         denied",
        "crun: executable file `nope` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a \
         command that was not found",
        "crun: open executable: Permission denied: OCI permission denied",
    ];
    for message in messages {
        let error = FakeEngine::refusing(500, message).engine.start("app").await.unwrap_err();
        assert_eq!(error, EngineError::CommandNotStarted(message.to_owned()));
    }
    let rlimit = "runc: runc create failed: unable to start container process: error during container init: error \
                  setting rlimits for ready process: error setting rlimit type 7: operation not permitted: OCI \
                  permission denied";
    let mount = "runc create failed: unable to start container process: error mounting \"/x\" to rootfs at \"/y\": stat \
                 /x: no such file or directory";
    for message in [rlimit, mount] {
        let error = FakeEngine::refusing(500, message).engine.start("app").await.unwrap_err();
        assert_eq!(error, EngineError::Other(message.to_owned()));
    }
}

/// Messages of Docker Engine and Podman, as error responses and within a stream.
#[tokio::test]
async fn pull_errors_of_all_engines_are_distinguished() {
    enum Kind {
        Denied,
        Missing,
        Other,
    }
    let messages = [
        (Kind::Denied, "pull access denied for app, repository does not exist or may require 'docker login': denied"),
        (Kind::Denied, "Head \"https://registry.example/v2/app/manifests/1\": unauthorized: authentication required"),
        (
            Kind::Denied,
            "initializing source docker://registry.example/app:1: reading manifest 1 in registry.example/app: \
            unauthorized: authentication required",
        ),
        (Kind::Missing, "manifest for registry.example/app:1 not found: manifest unknown: manifest unknown"),
        (
            Kind::Missing,
            "initializing source docker://registry.example/app:1: reading manifest 1 in registry.example/app: \
            manifest unknown",
        ),
        (Kind::Other, "toomanyrequests: You have reached your unauthenticated pull rate limit."),
        (Kind::Other, "Get \"https://registry.example/v2/\": dial tcp: lookup registry.example: no such host"),
        (Kind::Other, "net/http: request canceled while waiting for connection"),
    ];
    for (kind, message) in messages {
        let detail = json!({ "errorDetail": { "message": message }, "error": message });
        for fake in [FakeEngine::refusing(500, message), FakeEngine::streaming(&format!("{detail}\r\n"), false)] {
            let error = fake.engine.pull("registry.example/app:1", &|_| {}).await.unwrap_err();
            let is_expected = match kind {
                Kind::Denied => matches!(error, EngineError::ImageDenied { .. }),
                Kind::Missing => matches!(error, EngineError::ImageMissing { .. }),
                Kind::Other => matches!(error, EngineError::Other(_)),
            };
            assert!(is_expected && error.message() == message, "{error:?}");
        }
    }
    let full = json!({ "errorDetail": { "message": "write /var/lib/x: no space left on device" } });
    let fake = FakeEngine::streaming(&format!("{full}\r\n"), false);
    let error = fake.engine.pull("app", &|_| {}).await.unwrap_err();
    assert!(matches!(error, EngineError::DiskFull { .. }), "{error:?}");
}

#[tokio::test]
async fn stalled_download_fails_after_60_seconds_and_stalled_unpacking_after_600() {
    let downloading = r#"{"status":"Downloading","progressDetail":{"current":10,"total":30},"id":"a"}"#;
    let complete = r#"{"status":"Download complete","progressDetail":{},"id":"a"}"#;
    for (messages, done, seconds) in
        [(format!("{downloading}\r\n"), 10, 60), (format!("{downloading}\r\n{complete}\r\n"), 30, 600)]
    {
        let fake = FakeEngine::streaming(&messages, true);
        let seen = Mutex::new(Vec::new());
        let report = |progress: PullProgress| {
            seen.lock().unwrap().push(progress);
            if progress.done_bytes == done {
                // From now on, the clock advances to the next timer whenever all tasks wait.
                tokio::time::pause();
            }
        };
        let error = fake.engine.pull("app", &report).await.unwrap_err();
        assert_eq!(error, EngineError::Other(format!("no progress of the pull within {seconds} seconds")));
        let last = PullProgress { done_bytes: done, total_bytes: 30, is_downloaded: done == 30 };
        assert_eq!(seen.into_inner().unwrap().last(), Some(&last));
        tokio::time::resume();
    }
}

#[tokio::test]
async fn events_end_with_the_connection() {
    let message = |action: &str, workshop: &str| {
        let attributes = json!({ "workshoplauncher.dev/workshop": workshop });
        json!({ "Type": "container", "Action": action, "Actor": { "ID": "1", "Attributes": attributes } })
    };
    let messages = format!(
        "{}\n{}\n{}\n",
        message("exec_create: /launcher-sidecar", "lab-a"),
        message("die", "lab-b"),
        message("remove", "lab-c")
    );
    let fake = FakeEngine::streaming(&messages, false);
    let events: Vec<_> = fake.engine.events("fleet").collect().await;
    let workshops: Vec<_> = events.iter().flatten().map(String::as_str).collect();
    assert_eq!(workshops, ["lab-b", "lab-c"]);
    assert!(matches!(events.last(), Some(Err(EngineError::Unreachable { .. }))), "{events:?}");
}

/// Podman 4.3 has the state `stopped` until it has cleaned up an ended container.
#[tokio::test]
async fn container_in_unknown_state_is_inspected_and_listed() {
    let state = json!({ "Status": "stopped", "Running": false, "ExitCode": 3, "StartedAt": "2026-01-02T03:04:05.6Z" });
    let fake = FakeEngine::answering(&json!({ "State": state, "Config": { "Labels": null } }));
    let inspected = fake.engine.inspect("app").await.unwrap().unwrap();
    assert!(inspected.started && !inspected.running, "{inspected:?}");
    assert_eq!((inspected.exit_code, inspected.finished_at), (Some(3), None));

    let label = |name: &str| format!("workshoplauncher.dev/{name}");
    let labels = json!({ label("workshop"): "lab", label("uid"): "uid-1", label("part"): "app" });
    let foreign = json!({ "Names": ["/foreign"], "Labels": {}, "State": "stopped" });
    let fake = FakeEngine::answering(&json!([foreign, { "Names": ["/app"], "Labels": labels, "State": "stopped" }]));
    let found = fake.engine.list("fleet").await.unwrap();
    assert_eq!(found.iter().map(|container| container.name.as_str()).collect::<Vec<_>>(), ["app"]);
}
