//! The pulls of images: at most one of each image at a time, which launches and requests of admins share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use launcher_domain::FailureReason;
use launcher_domain::sync::lock;
use tokio::sync::{Semaphore, watch};

use super::diagnose;
use super::engine::{Engine, EngineError, PullProgress};

/// Maximum number of pulls that admins have requested and that run at the same time. Launches do not wait for them.
const MAX_AHEAD: usize = 3;
/// Maximum number of images whose last failure is kept.
const MAX_FAILURES: usize = 1000;

type Outcome = BoxFuture<'static, Result<(), EngineError>>;

/// The pulls in progress, and the failures of earlier pulls. Clones share both.
#[derive(Clone)]
pub(super) struct Pulls {
    images: Arc<Mutex<Images>>,
    ahead: Arc<Semaphore>,
}

#[derive(Default)]
struct Images {
    running: BTreeMap<String, Running>,
    failures: BTreeMap<String, FailureReason>,
}

/// A pull in progress. It ends early if no [`Pull`] of it is left.
struct Running {
    outcome: WeakShared<Outcome>,
    percent: watch::Receiver<u32>,
    /// True if a task of [`Pulls::ahead`] waits for the pull.
    is_ahead: bool,
}

/// A pull in progress, as one of its users sees it.
pub(super) struct Pull {
    /// The result of the pull. The pull advances while one of its users polls this future.
    pub(super) outcome: Shared<Outcome>,
    /// Downloaded part in percent; 100 while the engine unpacks the layers.
    pub(super) percent: watch::Receiver<u32>,
}

impl Default for Pulls {
    fn default() -> Self {
        Self { images: Arc::default(), ahead: Arc::new(Semaphore::new(MAX_AHEAD)) }
    }
}

impl Pulls {
    /// Joins the pull of an image, or begins one.
    pub(super) fn join(&self, engine: &Engine, image: &str) -> Pull {
        self.join_locked(&mut lock(&self.images), engine, image)
    }

    /// Joins or begins the pull of an image. Returns a future that keeps the pull running even if no launch waits for it;
    /// `None` if an earlier call has returned such a future for this pull.
    pub(super) fn ahead(&self, engine: &Engine, image: &str) -> Option<impl Future<Output = ()> + Send + 'static> {
        let mut images = lock(&self.images);
        let pull = self.join_locked(&mut images, engine, image);
        let running = images.running.get_mut(image)?;
        if std::mem::replace(&mut running.is_ahead, true) {
            return None;
        }
        let (limit, image) = (Arc::clone(&self.ahead), image.to_owned());
        Some(async move {
            // The semaphore is never closed.
            let _permit = limit.acquire_owned().await;
            tracing::info!(image, "pulling image ahead");
            match pull.outcome.await {
                Ok(()) => tracing::info!(image, "pulled image"),
                Err(error) => tracing::warn!(image, %error, "pulling image ahead failed"),
            }
        })
    }

    /// Returns the downloaded part of an image in percent; `None` if no pull of the image is in progress.
    pub(super) fn percent(&self, image: &str) -> Option<u32> {
        Some(*lock(&self.images).current(image)?.percent.borrow())
    }

    pub(super) fn failure(&self, image: &str) -> Option<FailureReason> {
        lock(&self.images).failures.get(image).cloned()
    }

    fn join_locked(&self, images: &mut Images, engine: &Engine, image: &str) -> Pull {
        if let Some(pull) = images.current(image) {
            return pull;
        }
        let (sender, percent) = watch::channel(0);
        let (engine, name, pulls) = (engine.clone(), image.to_owned(), self.clone());
        let outcome = async move {
            let report = |progress: PullProgress| {
                // The sizes of more layers become known during the download. The shown percentage never decreases,
                // except from 100 if more layers become known: 100 would mean that the download has ended.
                let percent = progress.percent();
                sender.send_if_modified(|shown| {
                    let next = if percent == 100 { 100 } else { percent.max((*shown).min(99)) };
                    next != std::mem::replace(shown, next)
                });
            };
            let outcome = engine.pull(&name, &report).await;
            pulls.end(&name, outcome.as_ref().err());
            outcome
        };
        let outcome = outcome.boxed().shared();
        if let Some(weak) = outcome.downgrade() {
            images.running.retain(|_, running| running.outcome.upgrade().is_some());
            let running = Running { outcome: weak, percent: percent.clone(), is_ahead: false };
            images.running.insert(image.to_owned(), running);
        }
        Pull { outcome, percent }
    }

    fn end(&self, image: &str, error: Option<&EngineError>) {
        let mut images = lock(&self.images);
        images.running.remove(image);
        images.failures.remove(image);
        if let Some(error) = error {
            if images.failures.len() >= MAX_FAILURES {
                images.failures.pop_first();
            }
            images.failures.insert(image.to_owned(), diagnose::pull_failed(image, error));
        }
    }
}

impl Images {
    fn current(&self, image: &str) -> Option<Pull> {
        let running = self.running.get(image)?;
        let outcome = running.outcome.upgrade().filter(|outcome| outcome.peek().is_none())?;
        Some(Pull { outcome, percent: running.percent.clone() })
    }
}

#[cfg(test)]
mod tests {
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

    async fn serve(
        mut stream: UnixStream,
        seen: Arc<watch::Sender<Seen>>,
        mut end: watch::Receiver<Option<&'static str>>,
    ) {
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
        let launches: Vec<_> =
            images.iter().map(|image| tokio::spawn(pulls.join(&fake.engine, image).outcome)).collect();
        fake.until(images.len(), images.len()).await;
        fake.end("{}\n");
        for launch in launches {
            assert_eq!(timeout(DEADLINE, launch).await.unwrap().unwrap(), Ok(()));
        }
    }
}
