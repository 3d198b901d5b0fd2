//! Starts the app of a Workshop.

use std::io;
use std::path::Path;
use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{FailureCode, FailureDetail, FailureReason, StartStep};

use super::command::{AppCommand, LaunchSpec, accepts_token};
use super::handle::Workload;
use super::supervisor::StopReason;
use crate::local::process::{AppStart, ExitWatch, KeeperHandle, StartError};
use crate::local::records::{Record, Started, Token, create_log};
use crate::machine::{DesiredState, Supervised, make_private, replace_file, starting};

/// Starts the app on its former port or a free one, and records its process on disk before it returns. If the launcher is
/// killed before the process is recorded, the next launcher finds the process by its marker.
pub(super) async fn start_app(workload: &Arc<Workload>) -> Result<ExitWatch, StopReason> {
    let starting = Arc::clone(workload);
    workload.record().update_with(move |record| start_now(&starting, record)).await
}

fn start_now(workload: &Workload, record: &mut Record) -> Result<ExitWatch, StopReason> {
    // The caller holds the record's lock. A deletion sets the desired state, and then waits for this lock before it
    // searches for processes: it either prevents this start or finds its process.
    if workload.desired_state().get() != DesiredState::Running {
        return Err(StopReason::Superseded);
    }
    let context = workload.context();
    let former = record.process.as_ref().and_then(|started| context.ports.reserve_again(started.port));
    let lease = former.or_else(|| context.ports.allocate(&SystemEntropy)).ok_or_else(no_port)?;
    let port = lease.port();
    workload.keep_port(lease);
    let marker = workload.marker_of(record);
    let token = accepts_token(&record.workshop.spec).then(|| Token::random(&SystemEntropy));
    let launch_spec = LaunchSpec {
        settings: &context.settings,
        layout: &context.data_dir.layout,
        name: workload.name(),
        spec: &record.workshop.spec,
        secrets: &record.secrets,
        marker: &marker,
        port,
        token: token.as_ref(),
    };
    let command = launch_spec.command().map_err(StopReason::Failed)?;
    let keeper = start_with_keeper(workload, &launch_spec, &command)?;
    let leader = keeper.leader.clone();
    let mut next = record.clone();
    next.process = Some(Started { leader: leader.clone(), port, token });
    next.observe(starting(StartStep::StartingApp), context.data_dir.clock.now());
    if let Err(error) = workload.record().replace(record, next) {
        // An app without a record must not keep running: kill its leading process. The caller finds the app's other
        // processes by the marker and terminates them.
        leader.id.signal(rustix::process::Signal::KILL);
        return Err(StopReason::NotStarted { problem: "its state cannot be written", error: io::Error::other(error) });
    }
    tracing::info!(workshop = workload.name(), program = %command.program.display(), port, "starting Workshop");
    Ok(ExitWatch::Keeper(Box::new(keeper)))
}

/// Creates the app's directories and log, and starts the app with a keeper.
fn start_with_keeper(
    workload: &Workload,
    launch_spec: &LaunchSpec<'_>,
    command: &AppCommand,
) -> Result<KeeperHandle, StopReason> {
    let context = workload.context();
    let working = launch_spec.working_dir();
    prepare(launch_spec, &working)
        .map_err(|error| StopReason::NotStarted { problem: "its directories cannot be created", error })?;
    let log = create_log(&context.data_dir.layout.log(workload.name()))
        .map_err(|error| StopReason::NotStarted { problem: "its log cannot be created", error })?;
    let AppCommand { program, args, env, marker, .. } = command;
    let app = AppStart { program, args, env, marker, working: &working, log };
    KeeperHandle::start(&context.settings.keeper, app).map_err(|error| match error {
        StartError::App(error) => not_started(command, &error),
        StartError::Keeper(error) => StopReason::NotStarted { problem: "its keeper process cannot be started", error },
    })
}

fn prepare(launch_spec: &LaunchSpec<'_>, working: &Path) -> io::Result<()> {
    let app = launch_spec.layout.app(launch_spec.name);
    make_private(working)?;
    make_private(&app)?;
    launch_spec.files().into_iter().try_for_each(|(file, content)| {
        let path = app.join(file);
        path.parent().map_or(Ok(()), make_private)?;
        replace_file(&path, content.as_bytes())
    })
}

fn not_started(command: &AppCommand, error: &io::Error) -> StopReason {
    let program = command.program.display().to_string();
    let detail = FailureDetail::ProgramNotStarted { program, error: error.to_string() };
    let reason = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            FailureReason::new(FailureCode::AppNotAvailable, Some(detail)).with_remedy(&command.remedy)
        }
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => {
            FailureReason::new(FailureCode::InvalidSpec, Some(detail))
        }
        _ => FailureReason::only(FailureCode::Crashed, &detail),
    };
    StopReason::Failed(reason)
}

fn no_port() -> StopReason {
    StopReason::Failed(FailureReason::new(FailureCode::Unschedulable, Some(FailureDetail::PortsInUse)))
}
