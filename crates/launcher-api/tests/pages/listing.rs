//! How the catalog and the editor present a template: starting points, tags, icons, links.

use http::{Method, StatusCode};
use launcher_api::ApiProcess;
use launcher_testkit::{ADMIN, ALICE, Options};
use serde_json::json;

use crate::sharing::scanned;
use crate::support::{Answer, App, borrowed, with};

const NEW: &str = "/admin/templates";

#[tokio::test]
async fn each_preset_is_a_complete_form_except_for_an_image_without_a_public_one() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new").await.body;
    let cards: Vec<&str> = page.split("?preset=").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(cards.len() > 10 && !page.contains("<pre"), "{cards:?}");
    for preset in cards {
        let page = admin.get(&format!("/admin/templates/new?preset={preset}")).await;
        assert!(page.body.contains(&format!("?preset={preset}\" aria-current=\"true\"")), "{}", page.body);
        let form = page.form(NEW);
        assert!(form.contains(&("preset".to_owned(), preset.to_owned())), "{form:?}");
        let sent = admin.post(NEW, &borrowed(&form)).await;
        if page.body.contains("FROM docker.io/") {
            assert_eq!(sent.status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(sent.body.matches("-error\"").count(), 2, "one error, which the field names too: {}", sent.body);
            assert!(sent.body.contains("field-image-error") && sent.body.contains("FROM docker.io/"), "{}", sent.body);
        } else {
            assert!(sent.is_saved(), "{preset}: {}", sent.body);
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn preset_fills_the_image_of_a_fleet_without_images() {
    let process = ApiProcess { ignored_fields: &["image"], ..ApiProcess::default() };
    let app = App::with(Options { process, ..Options::default() }).await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new?preset=desktop").await;
    assert!(!page.body.contains("Dockerfile"), "the fleet needs no image: {}", page.body);
    let form = page.form(NEW);
    assert!(admin.post(NEW, &borrowed(&form)).await.is_saved(), "{form:?}");
    let caller = app.admin();
    let page = launcher_service::Page { limit: 10, after: None };
    let settings = app.test.launcher.templates(&caller, &page).await.unwrap().remove(0).settings;
    assert_eq!(settings.start_path.unwrap().as_str(), "/vnc.html?autoconnect=1&resize=remote");
    app.finish().await;
}

#[tokio::test]
async fn saved_template_shows_its_link_and_a_qr_code() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    let list = admin.post(NEW, &with(&form, "slug", "statistics-101")).await.location().to_owned();
    let saved = admin.get(&list).await.body;
    let link = format!("http://localhost:{}/go/statistics-101", app.test.addr.port());
    assert!(saved.contains("id=\"saved\"") && saved.contains(&format!("data-copy=\"{link}\"")), "{saved}");
    assert_eq!(scanned(&saved), link);

    let same = admin.get("/admin/templates/new?preset=rstudio").await.form(NEW);
    let taken = admin.post(NEW, &with(&same, "slug", "statistics-101")).await;
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(taken.body.contains("Another template has the slug statistics-101"), "{}", taken.body);
    assert!(taken.body.contains("<details class=\"fields\" id=\"more\" open>"), "the field is visible");
    app.finish().await;
}

#[tokio::test]
async fn short_link_leads_to_the_template_and_keeps_the_query() {
    let app = App::start().await;
    let template = app.template("Penguins", |template| template["slug"] = json!("penguins")).await;
    let alice = app.browser(ALICE);
    assert_eq!(alice.get("/go/penguins").await.location(), format!("/launch/{template}"));
    assert_eq!(alice.get("/go/penguins?start=1").await.location(), format!("/launch/{template}?start=1"));
    let missing = alice.get("/go/gulls").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    for words in
        ["No workshop has the link “gulls”", "Compare the link with the slide", "href=\"/\">To the workshops</a>"]
    {
        assert!(missing.body.contains(words), "{words}: {}", missing.body);
    }
    let hostile = alice.get("/go/%3Cscript%3E").await;
    assert!(!hostile.body.contains("<script>alert") && hostile.body.contains("“&#60;script&#62;”"), "{}", hostile.body);
    for unknown in ["/go/gulls", "/go/PENGUINS", "/go/a%00b", "/go/%ff"] {
        let status = alice.get(unknown).await.status;
        assert!([StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST].contains(&status), "{unknown}: {status}");
    }
    app.finish().await;
}

#[tokio::test]
async fn unlisted_template_is_launched_only_by_its_link() {
    let app = App::start().await;
    let template = app.template("Penguins", |template| template["unlisted"] = json!(true)).await;
    let alice = app.browser(ALICE);
    for user in [ALICE, ADMIN] {
        assert!(!app.browser(user).get("/").await.body.contains("Penguins"), "{user}");
    }
    assert!(app.browser(ADMIN).get(NEW).await.body.contains("Only by link"));
    assert!(alice.launch(&template).await.starts_with("penguins-"));
    app.finish().await;
}

#[tokio::test]
async fn card_has_tags_icon_and_color_and_the_search_finds_tags() {
    let app = App::start().await;
    for name in ["Gulls", "Owls", "Terns", "Ducks", "Geese", "Swans"] {
        app.template(name, |_| {}).await;
    }
    app.template("Penguins", |template| {
        template["tags"] = json!(["Antarctica", "<b>"]);
        template["icon"] = json!("globe");
        template["color"] = json!("lime");
    })
    .await;
    let page = app.browser(ALICE).get("/").await.body;
    assert!(page.contains("<bdi class=\"badge\">Antarctica</bdi><bdi class=\"badge\">&#60;b&#62;</bdi>"), "{page}");
    assert!(
        page.contains("hue-lime\" aria-hidden=\"true\"><svg class=\"icon\" viewBox=\"0 0 24 24\"><path d=\"M12 3a9 9"),
        "{page}"
    );
    let found = app.browser(ALICE).get("/?q=antarctica").await.body;
    assert!(found.contains("Penguins") && !found.contains("Gulls"), "{found}");
    app.finish().await;
}

#[tokio::test]
async fn wrong_durations_amounts_and_commands_are_explained() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    for (field, value, explained) in [
        ("lifetime_seconds", "1:30", "A duration with a colon is ambiguous"),
        ("extension_seconds", "soon", "Write a duration such as 2 h"),
        ("memory_limit", "4", "Write the unit of the memory"),
        ("cpu_limit", "many", "Write a number of CPU cores"),
        ("command", "start.sh && sleep 1", "No shell runs this command, so &#38;&#38; has no effect"),
        ("args", "[1]", "Write a shell line, or a JSON list"),
        ("icon", "skull", "Choose an icon from the list."),
        ("color", "#00f", "Choose a colour from the list."),
        ("slug", "A", "2 to 40 characters"),
        ("tags", "a,A", "The tag A is given twice"),
        ("pod_template", "spec: [", "Line 1 is not YAML: "),
        ("pod_template", "- spec", "Write an object of YAML"),
        ("pod_template", "spec: {hostNetwork: true}", "/spec/hostNetwork: a template cannot set this field."),
        ("pod_template", "spec: {tolerations: [{key: gpu}]}", "/spec/tolerations/0: needs the entry toleration/gpu"),
    ] {
        let page = admin.post(NEW, &with(&form, field, value)).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(page.body.contains(explained), "{field}: {}", page.body);
    }
    let request = admin.request(Method::POST, NEW).header("sec-fetch-site", "same-origin");
    let german = request.header("accept-language", "de").form(&with(&form, "lifetime_seconds", "1:30"));
    let page = Answer::of(german).await.body;
    assert!(page.contains("field-lifetime_seconds-error") && !page.contains("ambiguous"), "{page}");
    app.finish().await;
}
