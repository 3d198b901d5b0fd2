//! Starts the process group of a Workshop.

use std::io;
use std::path::Path;
use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{FailureCode, FailureReason, StartStep};
use launcher_workshop::WorkshopStatus;
use tokio::task::JoinError;

use super::command::{AppCommand, LaunchSpec, accepts_token};
use super::exit::ExitWatch;
use super::keeper::{KeeperHandle, StartError};
use super::login::Token;
use super::state::{Record, Started};
use super::supervisor::StopReason;
use super::workload::{DesiredState, Workload};
use super::{layout, log, state};

/// Starts the app on a free port. The process is recorded on disk before this returns. If the launcher is killed
/// earlier, the next one finds the process by its marker.
pub(super) async fn start(workload: &Arc<Workload>) -> Result<ExitWatch, StopReason> {
    workload.update_with(start_now).await
}

fn start_now(workload: &Workload, record: &mut Record) -> Result<ExitWatch, StopReason> {
    // Under the record's lock: a deletion takes that lock before it searches for processes.
    if workload.desired_state() != DesiredState::Running {
        return Err(StopReason::Superseded);
    }
    let context = workload.context();
    let lease = context.ports.allocate(&SystemEntropy).ok_or_else(no_port)?;
    let port = lease.port();
    workload.keep_port(lease);
    let marker = workload.marker_of(record);
    let token = accepts_token(&record.workshop.spec).then(|| Token::random(&SystemEntropy));
    let launch_spec = LaunchSpec {
        settings: &context.settings,
        layout: &context.layout,
        name: workload.name(),
        spec: &record.workshop.spec,
        marker: &marker,
        port,
        token: token.as_ref(),
    };
    let command = launch_spec.command().map_err(StopReason::Failed)?;
    let working = context.layout.working(workload.name());
    prepare(&launch_spec, &working).map_err(|error| broken("its directories cannot be made", &error))?;
    let log =
        log::create(&context.layout.log(workload.name())).map_err(|error| broken("its log cannot be made", &error))?;
    let keeper =
        KeeperHandle::start(&context.settings.keeper, &command, &working, log).map_err(|error| match error {
            StartError::App(error) => not_started(&command, &error),
            StartError::Keeper(error) => broken("its keeper cannot be started", &error),
        })?;
    let leader = keeper.leader.clone();
    let mut next = record.clone();
    next.process = Some(Started { leader: leader.clone(), port, token });
    let ready_at = next.status().ready_at;
    next.set_status(WorkshopStatus::starting(StartStep::StartingApp, ready_at));
    if let Err(error) = workload.replace(record, next) {
        // Without a record it must not keep running. The failure then terminates the rest by its marker.
        leader.id.signal(rustix::process::Signal::KILL);
        return Err(broken("its state cannot be written", &io::Error::other(error)));
    }
    tracing::info!(workshop = workload.name(), program = %command.program.display(), port, "starting Workshop");
    Ok(ExitWatch::Keeper(Box::new(keeper)))
}

fn prepare(launch_spec: &LaunchSpec<'_>, working: &Path) -> io::Result<()> {
    let app = launch_spec.layout.app(launch_spec.name);
    layout::make_private(working)?;
    layout::make_private(&app)?;
    launch_spec.files().into_iter().try_for_each(|(file, content)| {
        let path = app.join(file);
        path.parent().map_or(Ok(()), layout::make_private)?;
        state::replace(&path, content.as_bytes())
    })
}

fn not_started(command: &AppCommand, error: &io::Error) -> StopReason {
    let detail = format!("{} cannot be started: {error}.", command.program.display());
    let reason = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            FailureReason::new(FailureCode::AppNotAvailable, Some(&detail)).with_remedy(&command.remedy)
        }
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => {
            FailureReason::new(FailureCode::InvalidSpec, Some(&detail))
        }
        _ => FailureReason::new(FailureCode::Crashed, Some(&detail)),
    };
    StopReason::Failed(reason)
}

fn no_port() -> StopReason {
    StopReason::Failed(FailureReason::new(
        FailureCode::Unschedulable,
        Some("Every port that a workshop may have is taken."),
    ))
}

pub(super) fn broken(what: &str, error: &io::Error) -> StopReason {
    tracing::error!(%error, what, "starting Workshop failed");
    StopReason::Failed(FailureReason::new(
        FailureCode::Crashed,
        Some(&format!("It was not started: {what} ({error}).")),
    ))
}

impl From<JoinError> for StopReason {
    fn from(error: JoinError) -> Self {
        broken("the start broke off", &io::Error::other(error))
    }
}
