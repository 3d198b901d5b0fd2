//! The containers of a Workshop as the engine reports them.

use launcher_domain::{FailureCode, FailureDetail, FailureReason, StartStep};
use launcher_workshop::{Phase, WorkshopStatus};

use crate::containers::diagnose;
use crate::containers::engine::{ContainerState, EngineError};
use crate::containers::names::Part;
use crate::containers::workload::Workload;
use crate::machine::{Look, Setback};

/// Exit code of a process that SIGKILL has ended.
const KILLED: i64 = 137;

/// The containers of a Workshop as the engine reports them; `None` for a container that does not exist.
pub(super) struct Observed {
    pub(super) app: Option<ContainerState>,
    pub(super) sidecar: Option<ContainerState>,
}

/// Start stage of the app, according to the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    NotStarted,
    /// The app, or both containers, had ended, and are being started again. The sidecar starts first.
    Restarting,
    Started,
}

impl Stage {
    pub(super) fn of(status: &WorkshopStatus) -> Self {
        match status.report.start_step {
            _ if status.phase == Phase::Running => Self::Started,
            Some(StartStep::RestartingApp) => Self::Restarting,
            _ => Self::NotStarted,
        }
    }
}

impl Observed {
    pub(super) async fn of(workload: &Workload) -> Result<Self, EngineError> {
        let engine = workload.engine();
        let (app, sidecar) = (workload.container(Part::App), workload.container(Part::Sidecar));
        let (mut app, sidecar) = tokio::try_join!(engine.inspect(&app), engine.inspect(&sidecar))?;
        if let Some(app) = &mut app {
            app.oom_killed |= workload.fleet().engine_info.misses_oom_kills && app.exit_code == Some(KILLED);
        }
        Ok(Self { app, sidecar })
    }

    /// Returns the combined state of both containers. If both have ended, the cause is a restart of the engine or of the
    /// machine: an app cannot end its sidecar. The container of an app that has ended alone still has the owner's files.
    pub(super) fn verdict(&self, stage: Stage) -> Result<Look, Setback> {
        let Some(app) = self.app.as_ref().filter(|app| app.started) else {
            return if stage == Stage::NotStarted { Ok(Look::Absent) } else { Err(removed()) };
        };
        let Some(sidecar) = self.sidecar.as_ref().filter(|sidecar| sidecar.started) else {
            return Err(removed());
        };
        match (app.running, sidecar.running) {
            (true, true) => Ok(Look::Running),
            (false, false) => Ok(Look::Interrupted),
            // The restart of the app was interrupted, by the end of the launcher or a failure of the engine.
            (false, true) if stage == Stage::Restarting => Ok(Look::Interrupted),
            (false, true) => Err(Setback::Crashed(reason(Part::App, app))),
            (true, false) => Err(Setback::Failed(reason(Part::Sidecar, sidecar))),
        }
    }
}

fn reason(part: Part, state: &ContainerState) -> FailureReason {
    diagnose::ended(part, state).unwrap_or_else(|| FailureReason::new(FailureCode::Crashed, None))
}

/// The failure of a workshop whose container was removed by another program, for example by `docker rm`.
fn removed() -> Setback {
    Setback::Failed(FailureReason::only(FailureCode::Crashed, &FailureDetail::ContainerRemoved))
}

impl From<EngineError> for Setback {
    fn from(error: EngineError) -> Self {
        Self::Retry(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use launcher_domain::FailureCode;

    use super::{ContainerState, Look, Observed, Setback, Stage};

    fn state(running: bool, exit_code: i64) -> ContainerState {
        ContainerState { running, started: true, exit_code: Some(exit_code), ..ContainerState::default() }
    }

    fn verdict(app: Option<ContainerState>, sidecar: Option<ContainerState>) -> Result<Look, Setback> {
        Observed { app, sidecar }.verdict(Stage::Started)
    }

    fn code(verdict: &Result<Look, Setback>) -> Option<FailureCode> {
        match verdict {
            Err(Setback::Failed(reason)) => Some(reason.code),
            _ => None,
        }
    }

    #[test]
    fn app_that_ends_alone_has_crashed() {
        let crash = |app| match verdict(Some(app), Some(state(true, 0))) {
            Err(Setback::Crashed(reason)) => Some(reason.code),
            _ => None,
        };
        assert_eq!(crash(state(false, 1)), Some(FailureCode::Crashed));
        let killed = ContainerState { oom_killed: true, ..state(false, 137) };
        assert_eq!(crash(killed), Some(FailureCode::OutOfMemory));
    }

    #[test]
    fn sidecar_that_ends_alone_ends_the_workshop() {
        assert_eq!(code(&verdict(Some(state(true, 0)), Some(state(false, 1)))), Some(FailureCode::Crashed));
    }

    #[test]
    fn containers_that_ended_together_start_again() {
        assert_eq!(verdict(Some(state(false, 137)), Some(state(false, 0))), Ok(Look::Interrupted));
    }

    #[test]
    fn interrupted_restart_is_continued() {
        let observed = Observed { app: Some(state(false, 137)), sidecar: Some(state(true, 0)) };
        assert_eq!(observed.verdict(Stage::Restarting), Ok(Look::Interrupted));
    }

    #[test]
    fn removed_container_of_started_workshop_is_a_failure() {
        assert_eq!(code(&verdict(None, None)), Some(FailureCode::Crashed));
        assert_eq!(code(&verdict(Some(state(true, 0)), None)), Some(FailureCode::Crashed));
        assert_eq!(Observed { app: None, sidecar: None }.verdict(Stage::NotStarted), Ok(Look::Absent));
    }
}
