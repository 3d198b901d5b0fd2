//! The images of templates: their states, and pulls ahead of a launch.

use std::collections::BTreeMap;

use launcher_service::{ImageState, ServiceError};
use launcher_testkit::Fault;
use tokio::time::{Instant, pause, resume};
use uuid::Uuid;

use crate::{World, caller};

#[tokio::test]
async fn image_is_for_admins_only() {
    let world = World::new().await;
    world.fleet.add_images();
    let template = world.template().await;
    let alice = caller("alice");
    for refused in [
        world.launcher.image_state(&alice, template.template_id).await.unwrap_err(),
        world.launcher.pull_image(&alice, Uuid::from_u128(404)).await.unwrap_err(),
        world.launcher.image_states(&alice, [template.settings.image]).await.unwrap_err(),
    ] {
        assert!(matches!(refused, ServiceError::Forbidden), "{refused}");
    }
    let missing = world.launcher.pull_image(&caller("admin"), Uuid::from_u128(404)).await.unwrap_err();
    assert!(matches!(missing, ServiceError::NotFound), "{missing}");
    assert!(world.fleet.image_pulls().is_empty());
}

#[tokio::test]
async fn image_is_pulled_once() {
    let world = World::new().await;
    world.fleet.add_images();
    let (admin, template) = (caller("admin"), world.template().await.template_id);
    assert_eq!(world.launcher.image_state(&admin, template).await.unwrap(), ImageState::Missing);
    for _ in 0..2 {
        let state = world.launcher.pull_image(&admin, template).await.unwrap();
        assert_eq!(state, ImageState::Pulling { percent: 0 });
    }
    assert_eq!(world.fleet.image_pulls(), ["x"]);
}

#[tokio::test]
async fn fleet_without_images_has_no_states() {
    let world = World::new().await;
    let (admin, template) = (caller("admin"), world.template().await.template_id);
    for refused in [
        world.launcher.image_state(&admin, template).await.unwrap_err(),
        world.launcher.pull_image(&admin, template).await.unwrap_err(),
    ] {
        assert!(matches!(refused, ServiceError::FleetWithoutImages), "{refused}");
    }
    assert_eq!(world.launcher.image_states(&admin, ["x".to_owned()]).await.unwrap(), BTreeMap::new());
}

#[tokio::test]
async fn list_of_images_does_not_wait_for_a_fleet_that_hangs() {
    let world = World::new().await;
    world.fleet.add_images();
    let images = || (0..100).map(|number| number.to_string());
    let admin = caller("admin");
    assert_eq!(world.launcher.image_states(&admin, images().chain(images())).await.unwrap().len(), 100);
    world.fleet.fault_images(Some(Fault::Hang));
    // The paused clock advances to the timeout at once.
    pause();
    let begun = Instant::now();
    assert_eq!(world.launcher.image_states(&admin, images()).await.unwrap(), BTreeMap::new());
    assert_eq!(begun.elapsed().as_secs(), 2);
    resume();
}
