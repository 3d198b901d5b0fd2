//! Report of a fleet about one workshop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::crash::Crash;
use crate::instance::{InstanceState, Observation, ObservedPhase, StartStep};
use crate::listening::ListensElsewhere;
use crate::material::MaterialReport;
use crate::secrets::SecretValues;
use crate::text_enum::known;

/// Report of a fleet about one workshop. The status of a Workshop has these fields beside its phase, and the row of an
/// instance stores them as one JSON object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Current step of the start, as in `pulling-image`.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub start_step: Option<StartStep>,
    /// Progress of the step. At `waiting-for-room`: the position in the queue, from 1. At `pulling-image`: the
    /// downloaded part in percent. The start timeout does not count during a step with a progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_progress: Option<u32>,
    /// Addresses on which the app listens instead of its port, if it does not answer some time after its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listens_elsewhere: Option<ListensElsewhere>,
    /// Last lines of the log of a crashed app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_tail: Option<String>,
    /// Last crash after which the fleet started the app again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_crash: Option<Crash>,
    /// Report about the course material, once the fleet has tried to place it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialReport>,
    /// URL for the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// URL of the frame page: the workshop below a bar with the time left. Unset if the workshop's sidecar has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_url: Option<String>,
}

/// The fields of a report by the phases in which they hold. A field is in one part; the others lack it.
struct Parts {
    start: Report,
    run: Report,
    failure: Report,
    /// In every phase.
    lasting: Report,
}

impl Report {
    fn parts(&self) -> Parts {
        let all = self.clone();
        let Self { start_step, start_progress, listens_elsewhere, log_tail, last_crash, material, url, frame_url } =
            all;
        let none = Self::default;
        Parts {
            start: Self { start_step, start_progress, listens_elsewhere, ..none() },
            run: Self { url, frame_url, ..none() },
            failure: Self { log_tail, ..none() },
            lasting: Self { last_crash, material, ..none() },
        }
    }

    /// Returns the fields of a start.
    #[must_use]
    pub fn of_start(&self) -> Self {
        self.parts().start
    }

    /// Returns the fields of a running workshop: its URLs.
    #[must_use]
    pub fn of_run(&self) -> Self {
        self.parts().run
    }

    /// Returns the fields that every phase keeps: the last crash, and the report about the course material.
    #[must_use]
    pub fn lasting(&self) -> Self {
        self.parts().lasting
    }

    /// Returns the report of an instance in this state after the fleet's report `seen`: the fields of its phase, and those
    /// that every phase keeps.
    pub(crate) fn next(&self, seen: &Observation, state: InstanceState) -> Self {
        let Parts { start, run, failure, lasting } = seen.report.parts();
        let of_phase = match seen.phase {
            ObservedPhase::Starting if state == InstanceState::Starting => start,
            ObservedPhase::Starting => self.of_run(),
            ObservedPhase::Running => run,
            ObservedPhase::Failed(_) => failure,
            ObservedPhase::Expired => Self::default(),
        };
        of_phase.after(&lasting.after(self))
    }

    /// Returns the report without the fields of a start.
    pub(crate) fn without_start(&self) -> Self {
        let all = self.clone();
        let Self {
            start_step: _,
            start_progress: _,
            listens_elsewhere: _,
            log_tail,
            last_crash,
            material,
            url,
            frame_url,
        } = all;
        Self { log_tail, last_crash, material, url, frame_url, ..Self::default() }
    }

    /// Returns the report after the end of the workload: without the fields of a start, and without URLs.
    #[must_use]
    pub fn without_workload(&self) -> Self {
        let Parts { start: _, run: _, failure, lasting } = self.parts();
        failure.after(&lasting)
    }

    /// Returns the report without these secret values in the text of the app.
    pub(crate) fn redacted(self, secrets: &SecretValues) -> Self {
        let Self { start_step, start_progress, listens_elsewhere, log_tail, last_crash, material, url, frame_url } =
            self;
        let log_tail = log_tail.map(|tail| secrets.redact(&tail));
        Self { start_step, start_progress, listens_elsewhere, log_tail, last_crash, material, url, frame_url }
    }

    /// Returns this report with the lasting fields of an earlier report, where this one has none.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        let Self { last_crash, material, .. } = earlier.lasting();
        Self { last_crash: self.last_crash.or(last_crash), material: self.material.or(material), ..self }
    }
}
