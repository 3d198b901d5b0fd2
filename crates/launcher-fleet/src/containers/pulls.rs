//! The pulls of images: at most one of each image at a time, which launches and requests of admins share.

#[cfg(test)]
mod tests;

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

/// Future with the result of a pull.
type Outcome = BoxFuture<'static, Result<(), EngineError>>;

/// The pulls in progress, and the failures of earlier pulls. Clones share both.
#[derive(Debug, Clone)]
pub(super) struct Pulls {
    images: Arc<Mutex<Images>>,
    ahead: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Images {
    running: BTreeMap<String, Running>,
    failures: BTreeMap<String, FailureReason>,
}

/// A pull in progress. It ends early if no [`Pull`] of it is left.
#[derive(Debug)]
struct Running {
    outcome: WeakShared<Outcome>,
    percent: watch::Receiver<u32>,
    /// True if a task of [`Pulls::ahead`] waits for the pull.
    is_ahead: bool,
}

/// A pull in progress, as one of its users sees it.
#[derive(Debug)]
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

    /// Returns the failure of the last pull of an image.
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

    /// Records the end of a pull.
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
    /// Returns the pull of an image that is in progress.
    fn current(&self, image: &str) -> Option<Pull> {
        let running = self.running.get(image)?;
        let outcome = running.outcome.upgrade().filter(|outcome| outcome.peek().is_none())?;
        Some(Pull { outcome, percent: running.percent.clone() })
    }
}
