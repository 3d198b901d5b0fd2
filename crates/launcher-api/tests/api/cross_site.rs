//! Mutations that a browser sends on behalf of another site.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};

async fn post(person: &Client, path: &str, lines: &[(&str, &str)]) -> Reply {
    let request = person.request(Method::POST, path);
    Reply::of(lines.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn cross_site_mutation_is_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let launch = alice.api(&format!("/templates/{template}/launch"));
    let port = app.addr.port();
    let foreign = format!("http://evil.localhost:{port}");
    let other_port = "http://127.0.0.1:1";
    let upper = "http://LOCALHOST.evil";
    for lines in [
        &[("Sec-Fetch-Site", "cross-site")][..],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "")],
        &[("Origin", "https://evil.example")],
        &[("Origin", &foreign)],
        &[("Origin", other_port)],
        &[("Origin", upper)],
        &[("Origin", "null")],
        &[("Origin", "")],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", "https://evil.example")],
    ] {
        assert_eq!(post(&alice, &launch, lines).await.expect(403).code(), "cross-site-request", "{lines:?}");
        // The pages answer an error with a page, not with a problem document.
        let page = post(&alice, &format!("/launch/{template}"), lines).await.expect(403);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    }
    assert_eq!(alice.get("/instances/?state=all").await.json(), serde_json::json!([]));
    app.finish().await;
}

#[tokio::test]
async fn same_origin_and_non_browser_mutations_are_accepted() {
    let Users { app, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let launch = admin.api(&format!("/templates/{template}/launch"));
    let by_address = format!("http://{}", app.addr);
    let secure = format!("https://{}", app.addr);
    let public = format!("http://localhost:{}", app.addr.port());
    for lines in [
        &[][..],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none")],
        &[("Origin", &public)],
        &[("Origin", &by_address)],
        &[("Origin", &secure)],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", &public)],
    ] {
        post(&admin, &launch, lines).await.expect(201);
    }
    app.finish().await;
}

#[tokio::test]
async fn cross_site_read_is_accepted() {
    let Users { app, alice, .. } = TestApp::start().await;
    let request = alice.request(Method::GET, &alice.api("/templates/")).header("Sec-Fetch-Site", "cross-site");
    Reply::of(request).await.expect(200);
    app.finish().await;
}
