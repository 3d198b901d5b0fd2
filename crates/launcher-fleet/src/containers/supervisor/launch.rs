//! What a Workshop needs before its containers: memory and CPU, and images.

use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, Report, StartStep};
use launcher_workshop::{Phase, lifecycle};
use tokio::time::sleep;

use crate::containers::build::requested;
use crate::containers::capacity::Request;
use crate::containers::diagnose;
use crate::containers::engine::EngineError;
use crate::containers::pulls::Pull;
use crate::containers::workload::Workload;
use crate::machine::{Setback, starting};

/// Restores the reservations of adopted workshops. Those that had memory and CPU keep them. The others enter the queue
/// in the order of their creation.
pub(in crate::containers) fn adopt_reservations<'a>(workloads: impl Iterator<Item = &'a Workload>) {
    let mut waiting = Vec::new();
    for workload in workloads {
        let record = workload.record.get();
        let (status, capacity) = (record.status(), &workload.fleet().capacity);
        let Ok(request) = requested(&record.workshop.spec.resources) else { continue };
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
        let capacity = &workload.fleet().capacity;
        if capacity.can_ever_fit(request) {
            workload.set_reservation(Some(Arc::new(capacity.enter(request))));
        }
    }
}

/// Waits for memory and CPU, and pulls the images of sidecar and app.
pub(super) async fn provide(workload: &Workload) -> Result<(), Setback> {
    reserve(workload).await?;
    let app_image = workload.record.workshop().spec.image;
    for image in [&workload.fleet().options.sidecar_image, &app_image] {
        match provide_image(workload, image).await {
            Ok(()) => {}
            Err(error @ EngineError::Unreachable { .. }) => return Err(error.into()),
            Err(error) => return Err(Setback::Failed(diagnose::pull_failed(image, &error))),
        }
    }
    workload.observe(starting(StartStep::Preparing)).await;
    Ok(())
}

/// Sets the step of the start, with its progress: see [`start_progress`](launcher_domain::Report::start_progress).
async fn set_progress(workload: &Workload, step: StartStep, progress: u32) {
    let report = Report { start_progress: Some(progress), ..Report::default() };
    workload.observe(lifecycle::Workload { report, ..starting(step) }).await;
}

async fn reserve(workload: &Workload) -> Result<(), Setback> {
    let reservation = match workload.reservation() {
        Some(reservation) => reservation,
        None => {
            let capacity = &workload.fleet().capacity;
            let request = requested(&workload.record.workshop().spec.resources).map_err(Setback::Failed)?;
            if !capacity.can_ever_fit(request) {
                return Err(Setback::Failed(never_fits(request, capacity.size())));
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

/// Pulls an image if this engine does not have it.
pub(super) async fn provide_image(workload: &Workload, image: &str) -> Result<(), EngineError> {
    if workload.engine().has_image(image).await? { Ok(()) } else { pull(workload, image).await }
}

/// Pulls an image, and shows the progress as the step of the start.
async fn pull(workload: &Workload, image: &str) -> Result<(), EngineError> {
    let (fleet, workshop) = (workload.fleet(), workload.name());
    tracing::info!(workshop, image, "pulling image");
    let Pull { outcome, percent: mut changes } = fleet.pulls.join(&fleet.engine, image);
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
