//! What happened, line by line.

use std::sync::{Arc, Mutex};

use crate::chance::Time;

/// How many of the last lines a failure shows.
const LAST: usize = 60;

/// What happened in one run. Clones are one trace.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    time: Time,
    lines: Arc<Mutex<Vec<String>>>,
    aloud: bool,
}

impl Trace {
    /// With `aloud`, each line is printed at once.
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

    /// All of it, to be compared with another run's.
    pub(crate) fn all(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}
