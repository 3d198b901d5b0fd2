//! Starts the app of a Workshop.

use std::io;
use std::path::Path;
use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::sync::lock;
use launcher_domain::{FailureCode, FailureDetail, FailureReason, StartStep, Token};
use tokio::task::JoinError;

use super::Workload;
use super::command::{AppCommand, LaunchSpec, accepts_token};
use crate::local::process::{AppStart, ExitWatch, KeeperHandle, StartError};
use crate::local::records::{Record, Started, create_log};
use crate::machine::{DesiredState, Setback, make_private, replace_file, starting};

/// Starts the app on its former port or a free one, and records its process on disk before it returns. If the launcher is
/// killed before the process is recorded, the next launcher finds the process by its marker.
pub(super) async fn start_app(workload: &Arc<Workload>) -> Result<ExitWatch, Setback> {
    let starting = Arc::clone(workload);
    let started = workload.record.update_with(move |record| Ok::<_, JoinError>(start_now(&starting, record))).await;
    started.unwrap_or_else(|error| Err(workload.not_started("the start was aborted", &io::Error::other(error))))
}

fn start_now(workload: &Workload, record: &mut Record) -> Result<ExitWatch, Setback> {
    // The caller holds the record's lock. A deletion sets the desired state, and then waits for this lock before it
    // searches for processes: it either prevents this start or finds its process. Its supervisor then drops the result.
    if *workload.desired_state.borrow() != DesiredState::Running {
        return Err(Setback::Again);
    }
    let ports = &workload.fleet().ports;
    let former = record.process.as_ref().and_then(|started| ports.reserve_again(started.port));
    let lease = former.or_else(|| ports.allocate(&SystemEntropy)).ok_or_else(|| {
        Setback::Failed(FailureReason::new(FailureCode::Unschedulable, Some(FailureDetail::PortsInUse)))
    })?;
    let port = lease.port();
    *lock(&workload.backend.port) = Some(lease);
    let token = accepts_token(&record.workshop.spec).then(|| Token::random(&SystemEntropy));
    let launch_spec = LaunchSpec { workload, record, port, token: token.as_ref() };
    let command = launch_spec.command().map_err(Setback::Failed)?;
    let keeper = start_with_keeper(&launch_spec, &command)?;
    let leader = keeper.leader.clone();
    let mut next = record.clone();
    next.process = Some(Started { leader: leader.clone(), port, token });
    next.observe(starting(StartStep::StartingApp), workload.now());
    if let Err(error) = workload.record.replace(record, next) {
        // An app without a record must not keep running: kill its leading process. The caller finds the app's other
        // processes by the marker and terminates them.
        leader.id.signal(rustix::process::Signal::KILL);
        return Err(workload.not_started("its state cannot be written", &io::Error::other(error)));
    }
    tracing::info!(workshop = workload.name(), program = %command.program.display(), port, "starting Workshop");
    Ok(ExitWatch::Keeper(Box::new(keeper)))
}

/// Creates the app's directories and log, and starts the app with a keeper.
fn start_with_keeper(launch_spec: &LaunchSpec<'_>, command: &AppCommand) -> Result<KeeperHandle, Setback> {
    let &LaunchSpec { workload, record, .. } = launch_spec;
    let working = workload.working_dir(&record.workshop.spec);
    prepare(launch_spec, &working)
        .map_err(|error| workload.not_started("its directories cannot be created", &error))?;
    let log = create_log(&workload.data_dir().layout.log(workload.name()))
        .map_err(|error| workload.not_started("its log cannot be created", &error))?;
    let AppCommand { program, args, env, .. } = command;
    let app = AppStart { program, args, env, marker: &workload.marker_of(record), working: &working, log };
    KeeperHandle::start(&workload.fleet().keeper, app).map_err(|error| match error {
        StartError::App(error) => Setback::Failed(not_started(command, &error)),
        StartError::Keeper(error) => workload.not_started("its keeper process cannot be started", &error),
    })
}

fn prepare(launch_spec: &LaunchSpec<'_>, working: &Path) -> io::Result<()> {
    let workload = launch_spec.workload;
    let app = workload.data_dir().layout.app(workload.name());
    make_private(working)?;
    make_private(&app)?;
    launch_spec.files().into_iter().try_for_each(|(file, content)| {
        let path = app.join(file);
        path.parent().map_or(Ok(()), make_private)?;
        replace_file(&path, content.as_bytes())
    })
}

fn not_started(command: &AppCommand, error: &io::Error) -> FailureReason {
    let program = command.program.display().to_string();
    let detail = FailureDetail::ProgramNotStarted { program, error: error.to_string() };
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            FailureReason::new(FailureCode::AppNotAvailable, Some(detail)).with_remedy(&command.remedy)
        }
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => {
            FailureReason::new(FailureCode::InvalidSpec, Some(detail))
        }
        _ => FailureReason::only(FailureCode::Crashed, &detail),
    }
}
