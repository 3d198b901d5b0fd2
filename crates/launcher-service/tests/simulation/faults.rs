//! Faults of the requests and watches between the programs and the API server.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::seeded::SeededRng;

/// Outcome of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The server handles the request and answers.
    Normal,
    /// The server does not handle the request, and answers with this status code.
    Refused(u16),
    /// The server handles the request, but answers with this error status code.
    DoneAndRefused(u16),
    /// The server does not handle the request, and the connection breaks.
    Broken,
    /// The server handles the request, and the connection breaks before the answer.
    DoneAndBroken,
    /// The server handles the request after this time, even if the client no longer waits.
    DoneLate(Duration),
    /// The server handles the request at once and answers after this time. The answer may then be outdated.
    AnsweredLate(Duration),
    /// The server does not handle the request, and never answers.
    NeverAnswered,
    /// The server handles the request, but never answers.
    DoneNeverAnswered,
}

/// Faults of one watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchFate {
    /// Delay of each change that the watch sends.
    pub(crate) lag: Duration,
    /// Time until the server closes the watch.
    pub(crate) cut: Duration,
}

/// Chooses the faults. For a given seed, the n-th request of one kind for one object always has the same outcome.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    seed: u64,
    bad_per_mille: AtomicUsize,
    /// Time until which watches of Workshops send nothing.
    behind: Mutex<Instant>,
    asked: Mutex<HashMap<String, u64>>,
}

impl FaultInjector {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, bad_per_mille: AtomicUsize::new(0), behind: Mutex::new(Instant::now()), asked: Mutex::default() }
    }

    /// Sets the number of failing requests per thousand.
    pub(crate) fn set(&self, per_mille: usize) {
        self.bad_per_mille.store(per_mille, Ordering::SeqCst);
    }

    /// Blocks all watches of Workshops for this time.
    pub(crate) fn fall_behind(&self, time: Duration) {
        let mut behind = self.behind.lock().unwrap();
        *behind = (*behind).max(Instant::now() + time);
    }

    /// Waits until watches of this kind send again.
    pub(crate) async fn caught_up(&self, kind: &str) {
        let until = *self.behind.lock().unwrap();
        if kind == "workshops" {
            sleep_until(until).await; // simulated time
        }
    }

    fn is_bad(&self, about: &str) -> Option<SeededRng> {
        let times = {
            let mut asked = self.asked.lock().unwrap();
            let times = asked.entry(about.to_owned()).or_default();
            *times += 1;
            *times
        };
        let mut rng = SeededRng::about(self.seed, &format!("{about} {times}"));
        rng.happens(self.bad_per_mille.load(Ordering::SeqCst)).then_some(rng)
    }

    pub(crate) fn fate(&self, about: &str) -> Fate {
        let Some(mut rng) = self.is_bad(about) else { return Fate::Normal };
        let code = *rng.pick(&[409, 429, 500, 503, 504]).unwrap();
        match rng.below(10) {
            0 | 1 => Fate::Refused(code),
            2 | 3 => Fate::DoneAndRefused(504),
            4 => Fate::Broken,
            5 => Fate::DoneAndBroken,
            6 => Fate::DoneLate(rng.millis(100, 20_000)),
            7 => Fate::AnsweredLate(rng.millis(100, 20_000)),
            8 => Fate::NeverAnswered,
            _ => Fate::DoneNeverAnswered,
        }
    }

    pub(crate) fn watch(&self, about: &str) -> WatchFate {
        const LONG: Duration = Duration::from_secs(3600);
        let Some(mut rng) = self.is_bad(about) else { return WatchFate { lag: Duration::ZERO, cut: LONG } };
        let lag = *rng.pick(&[0, 300, 2_000, 8_000]).unwrap();
        WatchFate { lag: Duration::from_millis(lag), cut: rng.millis(500, 30_000) }
    }
}
