//! In-flight requests, by caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use launcher_domain::sync::lock;
use launcher_domain::{Caller, EmailAddress};

use crate::problem::{Problem, ProblemCode};

/// Maximum number of in-flight requests of one caller, without event streams. Ten tabs that load at the same time need
/// fewer.
const MAX_IN_FLIGHT: usize = 64;

/// Counts the in-flight requests of each caller in this process. Callers without requests have no entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Callers(Arc<Mutex<HashMap<EmailAddress, usize>>>);

/// One in-flight request. It counts until it is dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    callers: Callers,
    email: EmailAddress,
}

impl Callers {
    /// Counts one more in-flight request of the caller.
    ///
    /// # Errors
    /// 429 if the caller already has [`MAX_IN_FLIGHT`] requests in flight.
    pub(super) fn enter(&self, caller: &Caller) -> Result<InFlight, Problem> {
        let mut callers = self.lock();
        let in_flight = callers.entry(caller.email().clone()).or_default();
        if *in_flight >= MAX_IN_FLIGHT {
            let detail = format!("You have {MAX_IN_FLIGHT} requests in flight. Wait until one is answered.");
            return Err(Problem::new(ProblemCode::TooManyRequests, detail));
        }
        *in_flight += 1;
        Ok(InFlight { callers: self.clone(), email: caller.email().clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EmailAddress, usize>> {
        lock(&self.0)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut callers = self.callers.lock();
        if let Some(in_flight) = callers.get_mut(&self.email) {
            *in_flight -= 1;
            if *in_flight == 0 {
                callers.remove(&self.email);
            }
        }
    }
}
