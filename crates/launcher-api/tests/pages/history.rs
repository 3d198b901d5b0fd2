//! The history of ended workshops.

use std::time::Duration;

use launcher_service::LaunchRequest;
use launcher_testkit::eventually;
use serde_json::Value;

use crate::support::{ADMIN, App};

#[tokio::test]
async fn history_links_to_older_page_after_50_rows() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await.parse().unwrap();
    for _ in 0..51 {
        let launched = app.test.launcher.launch(&app.admin(), template, &LaunchRequest::default()).await.unwrap();
        app.test.launcher.terminate(&app.admin(), &launched.listed.instance.k8s_name).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    eventually(Duration::from_secs(20), async || {
        let ended: Value = serde_json::from_str(&admin.get("/api/v1/instances/?state=ended").await.body).unwrap();
        (ended.as_array().map(Vec::len) == Some(51)).then_some(())
    })
    .await;

    let rows = |body: &str| body.matches("<th scope=\"row\"").count();
    let newest = admin.get("/history").await.body;
    assert_eq!(rows(&newest), 50);
    let older = newest.split('"').find(|part| part.starts_with("/history?after=")).unwrap();
    let oldest = admin.get(older).await.body;
    assert_eq!((rows(&oldest), oldest.contains("/history?after=")), (1, false));
    assert_eq!(rows(&admin.get("/history?after=unreadable").await.body), 50);
    app.finish().await;
}
