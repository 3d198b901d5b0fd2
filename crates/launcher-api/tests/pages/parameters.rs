//! Launch parameters on the pages: the launch form, links that fill it, and the page of the workshop.

use http::StatusCode;
use launcher_domain::TemplateContent;
use launcher_service::Limits;
use launcher_testkit::Options;
use serde_json::{Value, json};

use crate::support::{ADMIN, ALICE, App, borrowed, unescape, with};

const SECRET: &str = "hunter2-unique";

fn with_parameters(template: &mut Value) {
    template["parameters"] = json!([
        { "name": "TITLE", "label": "Title <b>", "kind": "text", "help": "Shown at the top.", "max_length": 20 },
        { "name": "DATASET", "label": "Data set", "kind": "choice", "choices": ["iris", "cars"], "required": false },
        { "name": "SIZE", "label": "Size", "kind": "number", "default": "10", "min": 1, "max": 100, "integer": true },
        { "name": "TOKEN", "label": "Token", "kind": "secret", "required": false },
    ]);
}

fn without_required(template: &mut Value) {
    with_parameters(template);
    template["parameters"].as_array_mut().unwrap().remove(0);
}

fn value<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    form.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn form_has_a_labelled_field_for_each_parameter() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let page = app.browser(ALICE).get(&format!("/launch/{template}")).await;
    let body = &page.body;
    for part in [
        "<label for=\"parameter-TITLE\"><bdi>Title &#60;b&#62;</bdi></label>",
        "id=\"parameter-TITLE\" name=\"p.TITLE\" value=\"\" maxlength=\"20\" autocomplete=\"off\" required \
         aria-describedby=\"parameter-TITLE-hint\">",
        "<p class=\"hint\" id=\"parameter-TITLE-hint\">Shown at the top.</p>",
        "<bdi>Data set (optional)</bdi>",
        "<option value=\"\" selected>Choose…</option>",
        "<input type=\"number\" dir=\"ltr\" id=\"parameter-SIZE\" name=\"p.SIZE\" value=\"10\" step=\"1\" min=\"1\" max=\"100\"",
        "<input type=\"password\" id=\"parameter-TOKEN\" name=\"p.TOKEN\"",
        "This value is not shown again.",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    app.finish().await;
}

#[tokio::test]
async fn values_of_the_form_reach_the_app_and_the_page_of_the_workshop() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    let form = alice.get(&action).await.form(&action);
    let form: Vec<_> = form.into_iter().filter(|(name, _)| !["p.TITLE", "p.TOKEN"].contains(&name.as_str())).collect();
    let filled = [borrowed(&form), vec![("p.TITLE", " <i>Gulls</i> "), ("p.TOKEN", SECRET)]].concat();
    let launched = alice.post(&action, &filled).await;
    assert_eq!(alice.post(&action, &filled).await.location(), launched.location(), "sent twice, launched once");
    let name = launched.location().trim_start_matches("/instances/").trim_end_matches("/wait").to_owned();
    let page = alice.get_until(&format!("/instances/{name}"), "Ready").await.body;
    for part in
        ["<dt><bdi>Title &#60;b&#62;</bdi></dt><dd><bdi>&#60;i&#62;Gulls&#60;/i&#62;</bdi></dd>", "<dd>(secret)</dd>"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains(SECRET) && !page.contains("Data set"), "{page}");
    let workshop = app.test.fleet.workshop(&name).unwrap();
    let env = ["TITLE", "SIZE", "DATASET"].map(|name| workshop.spec.env.get(name).map(String::as_str));
    assert_eq!(env, [Some("<i>Gulls</i>"), Some("10"), None]);
    assert_eq!(app.test.fleet.secrets(&name).reveal("TOKEN"), Some(SECRET));
    app.finish().await;
}

#[tokio::test]
async fn refused_form_shows_errors_and_typed_values_except_secrets() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    let sent = [("p.TITLE", ""), ("p.SIZE", "1000"), ("p.DATASET", "cars"), ("p.TOKEN", SECRET), ("p.OLD", "x")];
    let refused = alice.post(&action, &sent).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in [
        "Nothing was launched. Correct these fields:",
        "<a href=\"#parameter-TITLE\">",
        "<p class=\"error\" id=\"parameter-TITLE-error\">A value is required.</p>",
        "aria-describedby=\"parameter-TITLE-hint parameter-TITLE-error\" aria-invalid=\"true\"",
        "<p class=\"error\" id=\"parameter-SIZE-error\">At most 100.</p>",
        "<li>The template has no parameter OLD.</li>",
    ] {
        assert!(refused.body.contains(part), "{part}\n{}", refused.body);
    }
    assert!(!refused.body.contains(SECRET), "{}", refused.body);
    let form = refused.form(&action);
    let values = ["p.TITLE", "p.SIZE", "p.DATASET", "p.TOKEN"].map(|name| value(&form, name));
    assert_eq!(values, [Some(""), Some("1000"), Some("cars"), Some("")]);
    assert!(alice.get("/").await.body.contains("You have no workshops."));
    app.finish().await;
}

#[tokio::test]
async fn refused_launch_keeps_the_typed_values() {
    let limits = Limits { max_instances_per_user: 1, ..Limits::default() };
    let app = App::with(Options { limits, ..Options::default() }).await;
    let template = app.template("Penguins", with_parameters).await;
    let other = app.template("Whales", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    alice.launch(&other).await;
    let refused = alice.post(&action, &[("p.TITLE", "Gulls"), ("p.TOKEN", SECRET)]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("role=\"alert\"") && !refused.body.contains(SECRET), "{}", refused.body);
    assert_eq!(value(&refused.form(&action), "p.TITLE"), Some("Gulls"));
    app.finish().await;
}

#[tokio::test]
async fn link_fills_the_fields_except_secrets() {
    let app = App::start().await;
    app.template("Penguins", |template| {
        with_parameters(template);
        template["slug"] = json!("penguins");
    })
    .await;
    let alice = app.browser(ALICE);
    let link = format!("/go/penguins?p.TITLE=a%26b&p.DATASET=trees&p.TOKEN={SECRET}&p.NEW=1&utm_source=x&start=1");
    let opened = alice.get(&link).await;
    let page = alice.get(opened.location()).await;
    assert_eq!(page.status, StatusCode::OK, "a person confirms the values of a link");
    let action = opened.location().split('?').next().unwrap().to_owned();
    let form = page.form(&action);
    assert_eq!((value(&form, "p.TITLE"), value(&form, "p.SIZE")), (Some("a&b"), Some("10")));
    for part in [
        "These values of the link were ignored: NEW, TOKEN. Fill in these fields yourself",
        "<p class=\"error\" id=\"parameter-DATASET-error\">One of the choices of the template.</p>",
    ] {
        assert!(page.body.contains(part), "{part}\n{}", page.body);
    }
    assert!(!page.body.contains(SECRET) && !page.body.contains("A value is required"), "{}", page.body);
    app.finish().await;
}

#[tokio::test]
async fn start_link_asks_for_required_values() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let page = app.browser(ALICE).get(&format!("/launch/{template}?start=1")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("name=\"p.TITLE\""), "{}", page.body);
    app.finish().await;
}

#[tokio::test]
async fn card_launches_with_one_click_unless_a_value_is_required() {
    let app = App::start().await;
    let asking = app.template("Penguins", with_parameters).await;
    let optional = app.template("Whales", without_required).await;
    let alice = app.browser(ALICE);
    let home = alice.get("/").await;
    assert!(!home.body.contains(&format!("action=\"/launch/{asking}\"")), "{}", home.body);
    assert!(
        home.body.contains(&format!("<a class=\"button button-tint\" href=\"/launch/{asking}\">")),
        "{}",
        home.body
    );
    let action = format!("/launch/{optional}");
    let launched = alice.post(&action, &borrowed(&home.form(&action))).await;
    assert!(launched.location().ends_with("/wait"));
    // The template got a required parameter after the card was rendered.
    let stale = alice.with_htmx().post(&format!("/launch/{asking}"), &[]).await;
    assert_eq!(stale.header("hx-redirect"), format!("/launch/{asking}"));
    app.finish().await;
}

#[tokio::test]
async fn launch_again_has_the_values_of_the_workshop_except_secrets() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    let launched = alice.post(&action, &[("p.TITLE", "a&b \u{fc}"), ("p.TOKEN", SECRET)]).await;
    let name = launched.location().trim_start_matches("/instances/").trim_end_matches("/wait").to_owned();
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    alice.post(&format!("/instances/{name}/end"), &[]).await;
    let page = alice.get_until("/history", "Penguins").await.body;
    assert!(!page.contains(SECRET), "{page}");
    let link = page.split("href=\"").find(|link| link.starts_with("/launch/")).unwrap();
    let link = unescape(link.split('"').next().unwrap());
    let form = alice.get(&link).await.form(&action);
    let values = ["p.TITLE", "p.SIZE", "p.TOKEN"].map(|name| value(&form, name));
    assert_eq!(values, [Some("a&b \u{fc}"), Some("10"), Some("")]);
    app.finish().await;
}

#[tokio::test]
async fn unknown_or_repeated_field_of_the_form_is_refused() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    for fields in [[("owner", "bob"), ("p.TITLE", "x")], [("p.TITLE", "x"), ("p.TITLE", SECRET)]] {
        let refused = alice.post(&action, &fields).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        assert!(!refused.body.contains(SECRET));
    }
    app.finish().await;
}

#[tokio::test]
async fn editor_reproduces_parameters_and_reports_their_errors() {
    let app = App::start().await;
    let template = app.template("Penguins", with_parameters).await;
    let (admin, action) = (app.browser(ADMIN), format!("/admin/templates/{template}"));
    let form = admin.get(&format!("{action}/edit")).await.form(&action);
    assert!(admin.post(&action, &with(&form, "then", "save")).await.is_saved());
    let id = template.parse().unwrap();
    let saved = app.test.launcher.template(&app.admin(), id).await.unwrap();
    let mut written = json!({ "name": "x", "app_type": "notebook", "image": "x" });
    with_parameters(&mut written);
    let written = TemplateContent::read(written.as_object().unwrap()).unwrap();
    assert_eq!(saved.settings.parameters, written.settings.parameters);
    let row = |fields: &[(&'static str, &'static str)]| {
        let other = borrowed(&form).into_iter().filter(|(name, _)| !name.starts_with("parameters."));
        other.chain(fields.iter().copied()).collect::<Vec<_>>()
    };
    for (fields, place, part) in [
        (
            vec![
                ("parameters.0.name", "A"),
                ("parameters.0.label", "A"),
                ("parameters.0.kind", "text"),
                ("parameters.1.name", "A"),
                ("parameters.1.label", "B"),
                ("parameters.1.kind", "text"),
            ],
            "1-name",
            "The parameter A is given twice.",
        ),
        (
            vec![("parameters.0.label", "A"), ("parameters.0.kind", "choice"), ("parameters.0.choices", "1")],
            "0-choices",
            "2 to 50",
        ),
        (
            // The first row has no text, so it counts as absent.
            vec![
                ("parameters.0.label", " "),
                ("parameters.0.kind", "text"),
                ("parameters.1.label", "A"),
                ("parameters.1.kind", "number"),
                ("parameters.1.max", "many"),
            ],
            "1-max",
            "Enter a number such as",
        ),
        (vec![("parameters.0.name", "A"), ("parameters.0.kind", "text")], "0-label", "1 to 80 characters"),
        (
            vec![("parameters.0.label", "A"), ("parameters.0.kind", "choise")],
            "0-kind",
            "Choose an entry from the list.",
        ),
    ] {
        let refused = admin.post(&action, &row(&fields)).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        let error = refused.body.split(&format!("id=\"field-parameters-{place}-error\">")).nth(1);
        assert!(error.is_some_and(|error| error.starts_with(part)), "{part}\n{}", refused.body);
    }
    let size = row(&[
        ("parameters.0.label", "Size"),
        ("parameters.0.kind", "number"),
        ("parameters.0.default", "5"),
        // A number has no choices and no maximum length.
        ("parameters.0.choices", "a"),
        ("parameters.0.max_length", "10"),
    ]);
    assert!(admin.post(&action, &size).await.is_saved());
    let changed = app.test.launcher.template(&app.admin(), id).await.unwrap().settings.parameters;
    assert_eq!((changed.len(), &*changed[0].name, changed[0].default.as_deref()), (1, "SIZE", Some("5")));
    let activity = admin.get("/admin/activity").await.body;
    assert!(activity.contains("Questions"), "{activity}");
    app.finish().await;
}
