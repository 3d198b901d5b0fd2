//! Pulls the images of a Workshop that the engine does not have.

use std::sync::Arc;
use std::time::Duration;

use launcher_domain::StartStep;
use tokio::time::sleep;

use super::outcome::Outcome;
use super::step::set_progress;
use crate::containers::diagnose;
use crate::containers::engine::EngineError;
use crate::containers::pulls::Pull;
use crate::containers::workload::Workload;

/// Interval of the shown progress of a pull. Each change is written to the database.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Pulls the images of sidecar and app.
pub(super) async fn pull_images(workload: &Arc<Workload>) -> Result<(), Outcome> {
    let app_image = workload.stored_record().workshop().spec.image;
    for image in [&workload.context().settings.sidecar_image, &app_image] {
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
