//! The state of a template's image in the admins' list and in the editor.

use http::StatusCode;
use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_service::ImageState;
use launcher_testkit::{Fault, Options};

use crate::support::{ADMIN, ALICE, Answer, App, Browser, borrowed, unescape};

const LIST: &str = "/admin/templates";
const IMAGE: &str = "quay.io/jupyter/base-notebook:latest";

async fn app_with_images() -> App {
    App::with(Options { has_images: true, ..Options::default() }).await
}

/// Returns the line with the state of a template's image.
fn line(page: &Answer, template: &str) -> String {
    let start = format!("<div id=\"image-{template}\"");
    let line = page.body.split_once(&start).and_then(|(_, rest)| rest.split_once("</div>"));
    unescape(line.unwrap_or_else(|| panic!("no image in {}", page.body)).0)
}

/// Returns the line of a page in German.
async fn german_line(admin: &Browser, path: &str, template: &str) -> String {
    let page = Answer::of(admin.request(http::Method::GET, path).header("accept-language", "de")).await;
    line(&page, template)
}

fn failed(retryable: bool) -> ImageState {
    let detail = FailureDetail::ImageNotPulled { image: IMAGE.to_owned(), error: "no such <tag>".to_owned() };
    let reason = FailureReason::only(FailureCode::ImagePullFailed, &detail);
    ImageState::Failed(Box::new(FailureReason { retryable, ..reason }))
}

#[tokio::test]
async fn list_and_editor_show_each_state_of_the_image() {
    let app = app_with_images().await;
    let template = app.template("Statistics", |_| {}).await;
    let admin = app.browser(ADMIN);
    let disk_full = FailureReason::only(FailureCode::Unschedulable, &FailureDetail::EngineDiskFull);
    for (state, english, german, has_button) in [
        (ImageState::Ready, "Image ready on this server", "Image auf diesem Server bereit", false),
        (ImageState::Missing, "Image not on this server", "Image nicht auf diesem Server", true),
        (ImageState::Pulling { percent: 0 }, "Downloading the image", "Das Image wird heruntergeladen", false),
        (ImageState::Pulling { percent: 40 }, "Downloading: 40 %", "Wird heruntergeladen: 40 %", false),
        (
            ImageState::Pulling { percent: 100 },
            "Unpacking the downloaded image",
            "Das heruntergeladene Image wird entpackt",
            false,
        ),
        (failed(false), "<tag></p>\n<p>Check the name and the tag", "Prüfen Sie Name und Tag des Images", true),
        (failed(true), "<p>Check that the server can reach", "ob der Server die Registry erreicht", true),
        (ImageState::Failed(Box::new(disk_full)), "Remove images that are not in use", "Datenträger", true),
    ] {
        let is_pulling = matches!(state, ImageState::Pulling { .. });
        app.test.fleet.set_image(IMAGE, state);
        for path in [LIST.to_owned(), format!("{LIST}/{template}/edit")] {
            let shown = line(&admin.get(&path).await, &template);
            assert!(shown.contains(english), "{path}: {shown}");
            assert_eq!(shown.contains("<button"), has_button, "{path}: {shown}");
            assert_eq!(shown.contains("hx-trigger=\"every 2s\""), is_pulling, "{path}: {shown}");
            let shown = german_line(&admin, &path, &template).await;
            assert!(shown.contains(german), "{path}: {shown}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn button_begins_the_download_and_returns_to_its_page() {
    let app = app_with_images().await;
    let (template, _) = (app.template("Statistics", |_| {}).await, app.template("Biology", |_| {}).await);
    let (admin, action) = (app.browser(ADMIN), format!("{LIST}/{template}/image"));
    for path in [LIST.to_owned(), format!("{LIST}/{template}/edit")] {
        app.test.fleet.set_image(IMAGE, ImageState::Missing);
        let page = admin.get(&path).await;
        assert!(line(&page, &template).contains("Download now"), "{path}");
        let begun = admin.post(&action, &borrowed(&page.form(&action))).await;
        assert_eq!(begun.location(), format!("{path}?pulling={template}"));
        let page = admin.get(begun.location()).await;
        assert!(page.body.contains("The download for Statistics continues if you leave this page."), "{}", page.body);
        assert!(line(&page, &template).contains("Downloading the image"), "{path}");
        app.test.fleet.set_image(IMAGE, ImageState::Ready);
        let page = admin.get(begun.location()).await;
        assert!(!page.body.contains("continues if you leave"), "{path}: the notice is out of date");
    }
    assert_eq!(app.test.fleet.image_pulls(), [IMAGE, IMAGE]);
    app.finish().await;
}

#[tokio::test]
async fn line_updates_itself_until_the_download_has_ended() {
    let app = app_with_images().await;
    let template = app.template("Statistics", |_| {}).await;
    let admin = app.browser(ADMIN).with_htmx();
    for (path, place) in [(LIST.to_owned(), "list"), (format!("{LIST}/{template}/edit"), "edit")] {
        app.test.fleet.set_image(IMAGE, ImageState::Pulling { percent: 40 });
        let update = format!("{LIST}/{template}/image?page={place}");
        let page = admin.get(&path).await;
        assert!(line(&page, &template).contains(&format!("hx-get=\"{update}\"")), "{path}");
        let fragment = admin.get(&update).await;
        assert!(fragment.body.starts_with("<div id=\"image-"), "{}", fragment.body);
        assert_eq!(line(&fragment, &template), line(&page, &template));
        app.test.fleet.set_image(IMAGE, failed(true));
        let fragment = line(&admin.get(&update).await, &template);
        assert!(fragment.contains("Try again") && fragment.contains(&format!("value=\"{place}\"")), "{fragment}");
        assert!(!fragment.contains("hx-get"), "{fragment}");
    }
    app.test.fleet.fault_images(Some(Fault::Unavailable));
    let update = admin.get(&format!("{LIST}/{template}/image")).await;
    assert_eq!(update.status, StatusCode::SERVICE_UNAVAILABLE, "htmx keeps the line, and asks again");
    app.finish().await;
}

#[tokio::test]
async fn pages_show_no_images_if_the_fleet_has_none_or_does_not_answer() {
    for (has_images, fault) in [(false, None), (true, Some(Fault::Unavailable)), (true, Some(Fault::Hang))] {
        let app = App::with(Options { has_images, ..Options::default() }).await;
        if has_images {
            app.test.fleet.fault_images(fault);
        }
        let template = app.template("Statistics", |_| {}).await;
        for path in [LIST.to_owned(), format!("{LIST}/{template}/edit")] {
            let page = app.browser(ADMIN).get(&path).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            assert!(page.body.contains("Statistics") && !page.body.contains("id=\"image-"), "{path}: {}", page.body);
        }
        app.finish().await;
    }
}

#[tokio::test]
async fn download_is_refused_to_users_other_sites_and_unknown_fields() {
    let app = app_with_images().await;
    let template = app.template("Statistics", |_| {}).await;
    let action = format!("{LIST}/{template}/image");
    assert_eq!(app.browser(ALICE).post(&action, &[]).await.status, StatusCode::FORBIDDEN);
    let admin = app.browser(ADMIN);
    let request = admin.request(http::Method::POST, &action).header("sec-fetch-site", "cross-site");
    assert_eq!(Answer::of(request.form(&[("page", "list")])).await.status, StatusCode::FORBIDDEN);
    assert_eq!(admin.post(&action, &[("page", "//evil.example")]).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(app.test.fleet.image_pulls().is_empty());
    app.finish().await;
}
