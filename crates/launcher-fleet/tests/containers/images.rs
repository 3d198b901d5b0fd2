//! Images: presence and pull.

use std::sync::Mutex;

use bollard::query_parameters::RemoveImageOptions;
use launcher_fleet::engine::{EngineError, EngineKind, PullProgress};

use super::registry::Registry;
use super::support::{IMAGE, TestFleet, docker, engine, in_time};

async fn pull(image: &str) -> Result<Vec<PullProgress>, EngineError> {
    let progress = Mutex::new(Vec::new());
    in_time(engine().pull(image, &|now| progress.lock().unwrap().push(now))).await?;
    Ok(progress.into_inner().unwrap())
}

#[tokio::test]
async fn presence_of_an_image_is_known() {
    let fleet = TestFleet::new().await;
    assert_eq!(fleet.engine.has_image(IMAGE).await, Ok(true));
    assert_eq!(fleet.engine.has_image("localhost/launcher-engine-test").await, Ok(false));
    assert_eq!(fleet.engine.has_image("localhost/launcher-engine-test:none").await, Ok(false));
}

#[tokio::test]
async fn text_that_is_no_reference_is_a_bad_parameter() {
    for image in ["", "a//b", "a/../../containers/json", "a b", "a?b", "UPPER/case:1"] {
        let present = engine().has_image(image).await;
        assert!(matches!(present, Ok(false) | Err(EngineError::BadParameter(_))), "{image}: {present:?}");
        let pulled = pull(image).await;
        assert!(matches!(pulled, Err(EngineError::BadParameter(_))), "{image}: {pulled:?}");
    }
}

#[tokio::test]
async fn pull_reports_progress_up_to_the_whole_image() {
    let registry = Registry::new().await;
    let image = registry.image("app");
    assert_eq!(engine().has_image(&image).await, Ok(false));

    let progress = pull(&image).await.unwrap();

    assert_eq!(engine().has_image(&image).await, Ok(true));
    assert_eq!(engine().has_image(&format!("{image}:latest")).await, Ok(true));
    // Podman reports no sizes during the first second of a download.
    if engine().info().await.unwrap().kind == EngineKind::Docker {
        let last = progress.last().expect("there is progress");
        assert_eq!(last.done_bytes, last.total_bytes);
        assert!(last.total_bytes > 3_000_000, "{last:?}");
    }
    assert!(progress.iter().all(|now| now.done_bytes <= now.total_bytes), "{progress:?}");
    // A second pull finds all layers.
    pull(&image).await.unwrap();
    let options = RemoveImageOptions { force: true, ..RemoveImageOptions::default() };
    docker().remove_image(&format!("{image}:latest"), Some(options), None).await.unwrap();
}

#[tokio::test]
async fn missing_and_private_images_are_distinguished() {
    let registry = Registry::new().await;
    for missing in ["app:none", "other:latest"] {
        let error = pull(&registry.image(missing)).await.unwrap_err();
        let EngineError::ImageMissing { image, .. } = &error else { panic!("{missing}: {error:?}") };
        assert!(image.ends_with(missing) && !error.is_temporary());
    }
    let error = pull(&registry.image("private:latest")).await.unwrap_err();
    assert!(matches!(error, EngineError::ImageDenied { .. }) && !error.is_temporary(), "{error:?}");
}

#[tokio::test]
async fn registry_without_connection_is_a_temporary_error() {
    let registry = Registry::new().await;
    let image = registry.image("app");
    drop(registry);
    let error = pull(&image).await.unwrap_err();
    assert!(matches!(error, EngineError::Other(_)) && error.is_temporary(), "{error:?}");
}
