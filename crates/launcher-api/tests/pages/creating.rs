//! Creating a template only once, even if its form is sent repeatedly.

use http::StatusCode;
use launcher_testkit::Options;
use serde_json::json;
use uuid::Uuid;

use crate::support::{ADMIN, App, BOB, borrowed, with};

const NEW: &str = "/admin/templates";

/// Returns the number of templates.
async fn templates(app: &App) -> usize {
    let page = launcher_service::Page { limit: 100, after: None };
    app.test.launcher.templates(&app.admin(), &page).await.unwrap().len()
}

#[tokio::test]
async fn template_form_sent_twice_creates_one_template() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new").await.form(NEW);
    let form: Vec<_> =
        form.into_iter().filter(|(name, _)| !["name", "image", "then"].contains(&name.as_str())).collect();
    let filled = |name| [borrowed(&form), vec![("name", name), ("image", "x"), ("then", "try")]].concat();
    let one = filled("Penguins");
    let (first, second) = tokio::join!(admin.post(NEW, &one), admin.post(NEW, &one));
    assert_eq!(first.location(), second.location());
    assert_eq!(admin.post(NEW, &one).await.location(), first.location());
    assert_eq!(templates(&app).await, 1);

    // A form that is changed after a step back in the browser creates another template.
    assert_ne!(admin.post(NEW, &filled("Gulls")).await.location(), first.location());
    let page = admin.get(&format!("{NEW}/{}/edit", first.location().trim_start_matches("/launch/"))).await;
    assert!(page.body.contains("Penguins") && !page.body.contains("Gulls"), "{}", page.body);
    // A form without an identifier creates a template each time.
    let without: Vec<_> = one.into_iter().filter(|(name, _)| *name != "template_id").collect();
    assert_ne!(admin.post(NEW, &without).await.location(), admin.post(NEW, &without).await.location());
    assert_eq!(templates(&app).await, 4);
    app.finish().await;
}

#[tokio::test]
async fn refused_or_previewed_template_form_keeps_template_id() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let identifier = |form: &[(String, String)]| form.iter().find(|(name, _)| name == "template_id").unwrap().1.clone();
    let form = admin.get("/admin/templates/new").await.form(NEW);
    let refused = admin.post(NEW, &borrowed(&form)).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(identifier(&refused.form(NEW)), identifier(&form));
    let named = [with(&form, "name", "Penguins"), vec![("image", "x"), ("then", "preview")]].concat();
    let named: Vec<_> = named.into_iter().filter(|(name, value)| *name != "image" || *value == "x").collect();
    let preview = admin.post(NEW, &named).await;
    assert_eq!((preview.status, identifier(&preview.form(NEW))), (StatusCode::OK, identifier(&form)));

    let original = app.template("Penguins", |_| {}).await;
    let copy = admin.get(&format!("/admin/templates/new?from={original}")).await.form(NEW);
    assert!(![original, identifier(&form)].contains(&identifier(&copy)));
    app.finish().await;
}

#[tokio::test]
async fn template_form_with_existing_template_id_changes_no_template() {
    let app = App::with(Options::with_settings(&[&format!("--admin-emails={ADMIN},{BOB}")])).await;
    let theirs = app.template("Penguins", |template| template["image"] = json!("secret:1")).await;
    let id = Uuid::try_parse(&theirs).unwrap();
    let before = app.test.launcher.template(&app.admin(), id).await.unwrap();
    for (name, image) in [("Gulls", "x"), ("Penguins", "secret:1")] {
        let fields = [
            ("template_id", theirs.as_str()),
            ("name", name),
            ("app_type", "notebook"),
            ("image", image),
            ("security_profile", "restricted"),
            ("active", "yes"),
            ("then", "try"),
        ];
        let created = app.browser(BOB).post(NEW, &fields).await;
        assert_ne!(created.location(), format!("/launch/{theirs}"));
    }
    assert_eq!(app.test.launcher.template(&app.admin(), id).await.unwrap(), before);
    assert_eq!(templates(&app).await, 3);
    app.finish().await;
}
