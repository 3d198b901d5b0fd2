//! Invalid forms and queries: refused with a page or a notice, without effect.

use http::{Method, StatusCode};
use launcher_testkit::Options;

use crate::support::{ADMIN, ALICE, Answer, App, with};

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn unreadable_form_is_refused_with_error_page() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let action = format!("/launch/{}", app.template("Penguins", |_| {}).await);
    let long = format!("idempotency_key={}", "x".repeat(32 * 1024));
    for (content_type, body, status, words) in [
        ("application/json", "{}", StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong content type"),
        (FORM, &long, StatusCode::PAYLOAD_TOO_LARGE, "The form is too large"),
        (FORM, "return_to=/&return_to=/", StatusCode::UNPROCESSABLE_ENTITY, "The form was not accepted"),
    ] {
        let request = alice.request(Method::POST, &action).header("sec-fetch-site", "same-origin");
        let answer = Answer::of(request.header("content-type", content_type).body(body.to_owned())).await;
        assert_eq!((answer.status, answer.header("content-type")), (status, "text/html; charset=utf-8"));
        assert!(answer.body.contains(words), "{}", answer.body);
    }
    assert!(alice.get("/").await.body.contains("You have no workshops."));
    app.finish().await;
}

#[tokio::test]
async fn page_with_repeated_query_parameter_is_422() {
    let app = App::start().await;
    for path in ["/?q=a&q=b", "/history?after=1&after=2", "/admin/instances?state=all&state=all"] {
        let page = app.browser(ADMIN).get(path).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        assert!(page.body.contains("The address of this page has an invalid parameter."), "{}", page.body);
    }
    app.finish().await;
}

#[tokio::test]
async fn action_on_missing_instance_is_404_with_notice_for_htmx_and_page_for_browser() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    for action in ["end", "extend"] {
        let path = format!("/instances/penguins-abcdefghij/{action}");
        let list = alice.with_htmx().post(&path, &[]).await;
        assert_eq!(list.status, StatusCode::NOT_FOUND);
        assert!(list.body.contains("This workshop does not exist any more.") && !list.body.contains("<html"));
        let page = alice.post(&path, &[]).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND);
        assert!(page.body.contains("Page not found") && page.body.contains("<html"), "{}", page.body);
    }
    app.finish().await;
}

#[tokio::test]
async fn extension_of_starting_instance_is_refused_with_notice() {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let refused = alice.post(&format!("/instances/{name}/extend"), &[]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("Only a running workshop can be extended."), "{}", refused.body);
    app.finish().await;
}

#[tokio::test]
async fn template_form_without_readable_version_overwrites_nothing() {
    let app = App::start().await;
    let (admin, template) = (app.browser(ADMIN), app.template("Penguins", |_| {}).await);
    let save = format!("/admin/templates/{template}");
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let renamed: Vec<_> = with(&form, "name", "Whales").into_iter().filter(|(name, _)| *name != "version").collect();
    for version in ["", "x", "-1", "99999999999999999999"] {
        let fields = [&renamed[..], &[("version", version)]].concat();
        assert_eq!(admin.post(&save, &fields).await.status, StatusCode::CONFLICT, "{version:?}");
    }
    assert!(admin.get("/").await.body.contains("Penguins"));
    app.finish().await;
}

#[tokio::test]
async fn page_head_response_equals_get_response_without_body() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    for path in ["/", "/history", "/admin/instances", "/nowhere"] {
        let get = admin.get(path).await;
        let head = Answer::of(admin.request(Method::HEAD, path)).await;
        assert_eq!((head.status, head.body.as_str()), (get.status, ""), "{path}");
        for name in ["content-type", "content-security-policy", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
    }
    app.finish().await;
}
