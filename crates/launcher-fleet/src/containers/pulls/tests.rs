use std::sync::Arc;
use std::time::Duration;

use launcher_domain::FailureCode;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Pulls;
use crate::containers::engine::{Engine, EngineError};

const HALF: &str = r#"{"status":"Downloading","id":"a","progressDetail":{"current":5,"total":10}}"#;
/// Deadline of every wait. It only bounds a hang.
const DEADLINE: Duration = Duration::from_secs(120);

/// Numbers of pulls that the fake engine has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    begun: usize,
    open: usize,
}

/// A fake engine. Each pull reports that half is done, and ends after the test has set its end: the last message.
struct FakeEngine {
    engine: Engine,
    seen: watch::Receiver<Seen>,
    end: watch::Sender<Option<&'static str>>,
    server: JoinHandle<()>,
    _directory: TempDir,
}

impl FakeEngine {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (report, seen) = watch::channel(Seen::default());
        let (end, ended) = watch::channel(None);
        let report = Arc::new(report);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&report), ended.clone()));
            }
        });
        Self { engine: Engine::connect(&socket).unwrap(), seen, end, server, _directory: directory }
    }

    async fn until(&self, begun: usize, open: usize) {
        let wanted = Seen { begun, open };
        timeout(DEADLINE, self.seen.clone().wait_for(|seen| *seen == wanted)).await.unwrap().unwrap();
    }

    fn end(&self, last: &'static str) {
        self.end.send_replace(Some(last));
    }
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: UnixStream, seen: Arc<watch::Sender<Seen>>, mut end: watch::Receiver<Option<&'static str>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    if head.starts_with(b"GET") {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
        return;
    }
    seen.send_modify(|seen| *seen = Seen { begun: seen.begun + 1, open: seen.open + 1 });
    stream.write_all(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{HALF}\n").as_bytes()).await.unwrap();
    let last = tokio::select! {
        last = end.wait_for(Option::is_some) => last.unwrap().unwrap_or_default(),
        _ = stream.read_u8() => "",
    };
    // The client may be gone.
    drop(stream.write_all(last.as_bytes()).await);
    seen.send_modify(|seen| seen.open -= 1);
}

#[tokio::test]
async fn all_users_of_an_image_share_one_pull() {
    let (fake, pulls) = (FakeEngine::new(), Pulls::default());
    let ahead = tokio::spawn(pulls.ahead(&fake.engine, "a/b").unwrap());
    assert!(pulls.ahead(&fake.engine, "a/b").is_none());
    let mut launch = pulls.join(&fake.engine, "a/b");
    timeout(DEADLINE, launch.percent.wait_for(|percent| *percent == 50)).await.unwrap().unwrap();
    assert_eq!((pulls.percent("a/b"), pulls.percent("a/c")), (Some(50), None));
    fake.until(1, 1).await;
    fake.end("{}\n");
    assert_eq!(timeout(DEADLINE, launch.outcome).await.unwrap(), Ok(()));
    timeout(DEADLINE, ahead).await.unwrap().unwrap();
    assert_eq!((pulls.percent("a/b"), pulls.failure("a/b")), (None, None));
    fake.until(1, 0).await;
}

#[tokio::test]
async fn pull_ends_when_its_last_user_is_gone() {
    let (fake, pulls) = (FakeEngine::new(), Pulls::default());
    let launches = [pulls.join(&fake.engine, "a/b"), pulls.join(&fake.engine, "a/b")];
    let [first, second] = launches.map(|launch| tokio::spawn(launch.outcome));
    fake.until(1, 1).await;
    first.abort();
    // The request of an admin keeps the pull after the launches.
    let ahead = tokio::spawn(pulls.ahead(&fake.engine, "a/b").unwrap());
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    assert!(pulls.percent("a/b").is_some());
    fake.until(1, 1).await;
    ahead.abort();
    fake.until(1, 0).await;
    assert_eq!((pulls.percent("a/b"), pulls.failure("a/b")), (None, None));
    let again = tokio::spawn(pulls.join(&fake.engine, "a/b").outcome);
    fake.until(2, 1).await;
    again.abort();
}

#[tokio::test]
async fn failure_is_kept_until_the_next_pull_succeeds() {
    let (fake, pulls) = (FakeEngine::new(), Pulls::default());
    fake.end("{\"errorDetail\":{\"message\":\"manifest unknown\"},\"error\":\"manifest unknown\"}\n");
    let error = timeout(DEADLINE, pulls.join(&fake.engine, "a/b").outcome).await.unwrap().unwrap_err();
    assert!(matches!(error, EngineError::ImageMissing { .. }), "{error:?}");
    assert_eq!(pulls.failure("a/b").unwrap().code, FailureCode::ImagePullFailed);
    fake.end("{}\n");
    let next = pulls.join(&fake.engine, "a/b");
    assert!(pulls.failure("a/b").is_some(), "the pull has not ended");
    assert_eq!(timeout(DEADLINE, next.outcome).await.unwrap(), Ok(()));
    assert_eq!(pulls.failure("a/b"), None);
}

#[tokio::test]
async fn pulls_ahead_are_limited_and_launches_are_not() {
    let (fake, pulls) = (FakeEngine::new(), Pulls::default());
    let images = ["a", "b", "c", "d"];
    for image in images {
        tokio::spawn(pulls.ahead(&fake.engine, image).unwrap());
    }
    fake.until(super::MAX_AHEAD, super::MAX_AHEAD).await;
    assert!(images.iter().all(|image| pulls.percent(image).is_some()));
    let launches: Vec<_> = images.iter().map(|image| tokio::spawn(pulls.join(&fake.engine, image).outcome)).collect();
    fake.until(images.len(), images.len()).await;
    fake.end("{}\n");
    for launch in launches {
        assert_eq!(timeout(DEADLINE, launch).await.unwrap().unwrap(), Ok(()));
    }
}
