//! Limits the number of open event streams of each person, because a script might open streams in a loop. Each stream
//! costs the service a task, and work for every event.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use launcher_domain::sync::lock;
use launcher_domain::{Caller, EmailAddress};
use prometheus_client::metrics::gauge::Gauge;

use crate::problem::{Problem, ProblemCode};

/// Maximum number of open streams of one person. A browser tab has one stream, so regular use stays below.
const MAX_STREAMS: usize = 32;

/// Counts the open streams of each person in this process. People without a stream have no entry.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    of: Arc<Mutex<HashMap<EmailAddress, usize>>>,
    /// Metric: number of all open streams.
    all: Gauge,
}

/// One open stream. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Streams,
    email: EmailAddress,
}

impl Streams {
    /// Creates the counts, without open streams.
    pub(crate) fn new(all: Gauge) -> Self {
        Self { of: Arc::default(), all }
    }

    /// Counts one more open stream of the caller.
    ///
    /// # Errors
    /// 429 if the caller already has [`MAX_STREAMS`] open streams.
    pub(crate) fn open(&self, caller: &Caller) -> Result<OpenStream, Problem> {
        let mut streams = self.lock();
        let open = streams.entry(caller.email().clone()).or_default();
        if *open >= MAX_STREAMS {
            let detail = format!("You have {MAX_STREAMS} open event streams. Close one first.");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        *open += 1;
        self.all.inc();
        Ok(OpenStream { streams: self.clone(), email: caller.email().clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EmailAddress, usize>> {
        lock(&self.of)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.all.dec();
        let mut streams = self.streams.lock();
        if let Some(open) = streams.get_mut(&self.email) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.email);
            }
        }
    }
}
