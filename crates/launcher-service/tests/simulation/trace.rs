//! Trace of a simulation run: its events, shown if the run fails.

use std::sync::{Arc, Mutex};

use crate::seeded::Time;

/// Maximum trace lines shown with a failure.
const LAST: usize = 60;

/// Events of one run. Clones share one trace.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    time: Time,
    lines: Arc<Mutex<Vec<String>>>,
    aloud: bool,
}

impl Trace {
    /// Creates an empty trace. If `aloud` is true, it prints each line at once.
    pub(crate) fn new(time: Time, aloud: bool) -> Self {
        Self { time, lines: Arc::default(), aloud }
    }

    pub(crate) fn say(&self, line: &str) {
        let line = format!("{:>9.3} {line}", self.time.passed().as_secs_f64());
        if self.aloud {
            println!("{line}");
        }
        self.lines.lock().unwrap().push(line);
    }

    pub(crate) fn last(&self) -> String {
        let lines = self.lines.lock().unwrap();
        lines.iter().skip(lines.len().saturating_sub(LAST)).cloned().collect::<Vec<_>>().join("\n")
    }

    /// Returns the whole trace, for comparison with another run.
    pub(crate) fn all(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}
