//! Launches a Workshop: memory and CPU, images, and the start of its containers.

use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, StartStep};
use launcher_workshop::lifecycle::{self, App};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::time::sleep;

use super::outcome::{Observed, Outcome, Stage, Verdict};
use super::start::{Attempt, start};
use super::status::{expired, observe, set_progress, set_step};
use crate::containers::build::requests;
use crate::containers::capacity::Request;
use crate::containers::diagnose;
use crate::containers::engine::EngineError;
use crate::containers::pulls::Pull;
use crate::containers::workload::Workload;

/// Restores the reservations of adopted workshops. Those that had memory and CPU keep them. The others enter the queue
/// in the order of their creation.
pub(in crate::containers) fn adopt_reservations<'a>(workloads: impl Iterator<Item = &'a Workload>) {
    let mut waiting = Vec::new();
    for workload in workloads {
        let record = workload.stored_record().get();
        let (status, capacity) = (record.status(), &workload.context().capacity);
        let Ok(request) = request(&record.workshop) else { continue };
        let waits = status.report.start_step == Some(StartStep::WaitingForRoom);
        match status.phase {
            Phase::Failed | Phase::Expired => {}
            Phase::Starting | Phase::Running if !waits => {
                workload.set_reservation(Some(Arc::new(capacity.adopt(request))))
            }
            Phase::Pending | Phase::Starting | Phase::Running => {
                // A UUID of version 7 begins with the time of its creation, in milliseconds.
                waiting.push((record.workshop.metadata.uid.clone(), workload, request));
            }
        }
    }
    waiting.sort_by(|(first, ..), (second, ..)| first.cmp(second));
    for (_, workload, request) in waiting {
        let capacity = &workload.context().capacity;
        if capacity.can_ever_fit(request) {
            workload.set_reservation(Some(Arc::new(capacity.enter(request))));
        }
    }
}

/// Launches the containers, or does nothing if they run. Each step is idempotent: after an interruption, the next call
/// continues.
pub(super) async fn launch(workload: &Arc<Workload>) -> Result<(), Outcome> {
    if let Some(status) = expired(workload) {
        return Err(Outcome::Expired(status));
    }
    let status = workload.stored_record().get().status();
    let attempt = match Observed::of(workload).await?.verdict(stage(&status)) {
        Verdict::Running => return Ok(()),
        Verdict::Failed(reason) => return Err(Outcome::Failed(reason)),
        Verdict::AppEnded(reason) => return Err(Outcome::Crashed(reason)),
        Verdict::Ended => {
            tracing::info!(workshop = workload.stored_record().name(), "containers have ended, starting them again");
            observe(workload, lifecycle::Workload::of(App::Ended)).await;
            Attempt::Restart
        }
        Verdict::NotStarted => {
            reserve(workload).await?;
            pull_images(workload).await?;
            set_step(workload, StartStep::Preparing).await;
            Attempt::First
        }
    };
    start(workload, attempt).await
}

fn stage(status: &WorkshopStatus) -> Stage {
    match status.report.start_step {
        _ if status.phase == Phase::Running => Stage::Started,
        Some(StartStep::RestartingApp) => Stage::Restarting,
        _ => Stage::NotStarted,
    }
}

async fn reserve(workload: &Arc<Workload>) -> Result<(), Outcome> {
    let reservation = match workload.reservation() {
        Some(reservation) => reservation,
        None => {
            let capacity = &workload.context().capacity;
            let request = request(&workload.stored_record().workshop()).map_err(Outcome::failed)?;
            if !capacity.can_ever_fit(request) {
                return Err(Outcome::failed(never_fits(request, capacity.size())));
            }
            let reservation = Arc::new(capacity.enter(request));
            workload.set_reservation(Some(Arc::clone(&reservation)));
            reservation
        }
    };
    let (mut changes, mut shown) = (reservation.changes(), None);
    while let Some(position) = reservation.position() {
        if shown.replace(position) != Some(position) {
            set_progress(workload, StartStep::WaitingForRoom, position).await;
        }
        // The sender lives as long as the reservation.
        let _closed = changes.changed().await;
    }
    Ok(())
}

fn request(workshop: &Workshop) -> Result<Request, FailureReason> {
    let (memory, cpu_millis) = requests(workshop)?;
    Ok(Request { memory, cpu_millis })
}

fn never_fits(request: Request, size: Request) -> FailureReason {
    const MIB: u64 = 1024 * 1024;
    let detail = FailureDetail::LargerThanServer {
        memory: (request.memory / MIB).to_string(),
        cpu: request.cpu_millis.to_string(),
        server_memory: (size.memory / MIB).to_string(),
        server_cpu: size.cpu_millis.to_string(),
    };
    let reason = FailureReason::only(FailureCode::Unschedulable, &detail).with_remedy(&FailureRemedy::RequestLess);
    FailureReason { retryable: false, ..reason }
}

/// Interval of the shown progress of a pull. Each change is written to the database.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Pulls the images of sidecar and app.
async fn pull_images(workload: &Arc<Workload>) -> Result<(), Outcome> {
    let app_image = workload.stored_record().workshop().spec.image;
    for image in [&workload.context().settings.options.sidecar_image, &app_image] {
        match provide_image(workload, image).await {
            Ok(()) => {}
            Err(error @ EngineError::Unreachable { .. }) => return Err(Outcome::Retry(error)),
            Err(error) => return Err(Outcome::failed(diagnose::pull_failed(image, &error))),
        }
    }
    Ok(())
}

/// Pulls an image if this engine does not have it.
pub(super) async fn provide_image(workload: &Arc<Workload>, image: &str) -> Result<(), EngineError> {
    if workload.context().engine.has_image(image).await? { Ok(()) } else { pull(workload, image).await }
}

/// Pulls an image, and shows the progress as the step of the start.
async fn pull(workload: &Arc<Workload>, image: &str) -> Result<(), EngineError> {
    let (context, workshop) = (workload.context(), workload.stored_record().name());
    tracing::info!(workshop, image, "pulling image");
    let Pull { outcome, percent: mut changes } = context.pulls.join(&context.engine, image);
    let show = async {
        loop {
            let percent = *changes.borrow_and_update();
            set_progress(workload, StartStep::PullingImage, percent).await;
            sleep(PROGRESS_INTERVAL).await;
            if changes.changed().await.is_err() {
                std::future::pending().await
            }
        }
    };
    tokio::select! {
        result = outcome => result,
        () = show => Ok(()),
    }
}
