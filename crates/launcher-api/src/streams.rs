//! How many event streams one person may have open: each costs the service a task and a place in line for every event,
//! also when a script opens them in a loop.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use launcher_domain::{Caller, EmailAddress};
use prometheus_client::metrics::gauge::Gauge;

use crate::problem::{Problem, ProblemCode};

/// A tab has one; nobody works with so many.
const MAX_STREAMS: usize = 32;

/// The open streams of each person who has any, in this process.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    of: Arc<Mutex<HashMap<EmailAddress, usize>>>,
    /// All of them, for whoever watches the service.
    all: Gauge,
}

/// One open stream. It is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Streams,
    email: EmailAddress,
}

impl Streams {
    /// None is open.
    pub(crate) fn new(all: Gauge) -> Self {
        Self { of: Arc::default(), all }
    }

    /// Counts one more stream of the caller's.
    ///
    /// # Errors
    /// 429 when the caller has [`MAX_STREAMS`] open.
    pub(crate) fn open(&self, caller: &Caller) -> Result<OpenStream, Problem> {
        let mut streams = self.lock();
        let open = streams.entry(caller.email().clone()).or_default();
        if *open >= MAX_STREAMS {
            let detail = format!("You have {MAX_STREAMS} event streams open; close one first.");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        *open += 1;
        self.all.inc();
        Ok(OpenStream { streams: self.clone(), email: caller.email().clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EmailAddress, usize>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
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
