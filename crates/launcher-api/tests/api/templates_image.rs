//! `GET /templates/{template_id}/image` and `POST /templates/{template_id}/image/pull`.

use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_service::ImageState;
use launcher_testkit::{Fault, Options, TestApp, Users};
use serde_json::json;

const IMAGE: &str = "quay.io/jupyter/base-notebook:latest";

fn with_images() -> Options {
    Options { has_images: true, ..Options::default() }
}

#[tokio::test]
async fn image_of_template_is_read_in_each_state() {
    let Users { app, admin, .. } = TestApp::start_with(with_images()).await;
    let image = format!("/templates/{}/image", app.template(&admin).await);
    let detail = FailureDetail::ImageNotPulled { image: IMAGE.to_owned(), error: "manifest unknown".to_owned() };
    let reason = FailureReason::only(FailureCode::ImagePullFailed, &detail);
    let failure = json!({
        "code": "image-pull-failed",
        "message": format!("The image {IMAGE} could not be downloaded: manifest unknown"),
        "remedy": reason.remedy,
        "retryable": false,
    });
    for (state, expected) in [
        (ImageState::Missing, json!({ "state": "missing", "percent": null, "reason": null })),
        (ImageState::Pulling { percent: 40 }, json!({ "state": "pulling", "percent": 40, "reason": null })),
        (ImageState::Ready, json!({ "state": "ready", "percent": null, "reason": null })),
        (ImageState::Failed(Box::new(reason)), json!({ "state": "failed", "percent": null, "reason": failure })),
    ] {
        app.fleet.set_image(IMAGE, state);
        assert_eq!(admin.get(&image).await.expect(200).json(), expected);
    }
    app.finish().await;
}

#[tokio::test]
async fn repeated_request_for_image_begins_one_pull() {
    let Users { app, admin, .. } = TestApp::start_with(with_images()).await;
    let pull = format!("/templates/{}/image/pull", app.template(&admin).await);
    let pulling = json!({ "state": "pulling", "percent": 0, "reason": null });
    assert_eq!(admin.post(&pull).await.expect(202).json(), pulling);
    assert_eq!(admin.post(&pull).await.expect(202).json(), pulling);
    assert_eq!(app.fleet.image_pulls(), [IMAGE]);
    app.fleet.set_image(IMAGE, ImageState::Ready);
    assert_eq!(admin.post(&pull).await.expect(202).json()["state"], "ready");
    assert_eq!(app.fleet.image_pulls(), [IMAGE], "a ready image is not pulled again");
    app.finish().await;
}

#[tokio::test]
async fn fleet_without_images_is_a_problem() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let (image, pull) = (format!("/templates/{template}/image"), format!("/templates/{template}/image/pull"));
    for reply in [admin.get(&image).await.expect(409), admin.post(&pull).await.expect(409)] {
        assert_eq!(reply.code(), "fleet-without-images");
        assert_eq!(
            reply.json()["detail"],
            "The fleet of this launcher does not manage images: only the container fleet does."
        );
    }
    assert_eq!(alice.get(&image).await.expect(403).code(), "admin-only");
    app.finish().await;
}

#[tokio::test]
async fn fleet_that_does_not_answer_is_unavailable() {
    let Users { app, admin, .. } = TestApp::start_with(with_images()).await;
    let template = app.template(&admin).await;
    let (image, pull) = (format!("/templates/{template}/image"), format!("/templates/{template}/image/pull"));
    app.fleet.fault_images(Some(Fault::Unavailable));
    for reply in [admin.get(&image).await.expect(503), admin.post(&pull).await.expect(503)] {
        assert_eq!(reply.code(), "unavailable");
        assert_eq!(reply.json()["detail"], "The fleet does not answer. Nothing was changed. Try again in a moment.");
        assert_eq!(reply.header("retry-after"), "5");
    }
    app.finish().await;
}
