//! The template editor: typed and stored text survives unchanged.

use std::collections::BTreeMap;

use http::StatusCode;
use launcher_api::ApiProcess;
use launcher_domain::template::Resources;
use launcher_domain::{Sizes, TemplatePolicy};
use launcher_testkit::Options;
use proptest::prelude::*;
use serde_json::json;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::support::{ADMIN, ALICE, App, borrowed, with};

const NEW: &str = "/admin/templates";

#[tokio::test]
async fn editor_form_creates_template_as_typed() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new").await.form(NEW);
    let mut fields = borrowed(&form);
    for (name, value) in [
        ("name", "Penguins"),
        ("image", "quay.io/jupyter/r-notebook:latest"),
        ("command", "sh -c 'exec start.sh \"$0\" {a}'"),
        ("env.0.name", "GREETING"),
        ("env.0.value", "Hello, = {world}"),
        ("env.7.name", "EMPTY"),
        ("env.7.value", ""),
        ("lifetime_seconds", "1 h"),
        ("memory_limit", "4 GB"),
        ("tags", "R, first year"),
    ] {
        fields.retain(|(known, _)| *known != name);
        fields.push((name, value));
    }
    assert!(admin.post(NEW, &fields).await.is_saved());
    let caller = app.admin();
    let page = launcher_service::Page { limit: 10, after: None };
    let template = app.test.launcher.templates(&caller, &page).await.unwrap().remove(0);
    assert_eq!(template.settings.command, ["sh", "-c", "exec start.sh \"$0\" {a}"]);
    let env =
        [("EMPTY", ""), ("GREETING", "Hello, = {world}")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(template.settings.env, BTreeMap::from(env));
    assert_eq!(template.settings.resources.memory_limit.as_str(), "4G");
    assert_eq!(template.listing.tags, ["R", "first year"]);
    assert_eq!((template.settings.port, template.settings.lifetime_seconds, template.active), (8888, 3600, true));
    app.finish().await;
}

#[tokio::test]
async fn unchanged_template_form_keeps_template_identical() {
    let app = App::start().await;
    let hard = [
        "plain",
        "",
        " spaces ",
        "two\nlines\r\n",
        "\"quoted\"",
        "{{ braces }} ${x} %s",
        "tab\there",
        "</textarea><b>",
        "&amp; é",
    ];
    let template_id = app
        .template("Hard <i>things</i>", |template| {
            template["description"] = json!("\n# One\r\n\r\n```\n</textarea>\n\"quoted\" {braces}\n```\n");
            template["command"] = json!(hard);
            template["args"] = json!(hard);
            template["env"] =
                hard.iter().enumerate().map(|(index, value)| (format!("V{index}"), json!(value))).collect();
            template["lifetime_seconds"] = json!(61);
            template["tags"] = json!(["hard"]);
            template["unlisted"] = json!(true);
            template["slug"] = json!("hard");
        })
        .await;
    let (caller, id) = (app.admin(), Uuid::try_parse(&template_id).unwrap());
    let before = app.test.launcher.template(&caller, id).await.unwrap();
    let (edit, save) = (format!("{NEW}/{template_id}/edit"), format!("{NEW}/{template_id}"));
    let form = app.browser(ADMIN).get(&edit).await.form(&save);
    assert!(app.browser(ADMIN).post(&save, &borrowed(&form)).await.is_saved());
    assert_eq!(app.test.launcher.template(&caller, id).await.unwrap(), before);

    let changed = with(&form, "name", "Harder");
    assert!(app.browser(ADMIN).post(&save, &changed).await.is_saved());
    let after = app.test.launcher.template(&caller, id).await.unwrap();
    assert_eq!((after.settings.name.as_str(), after.version), ("Harder", before.version + 1));
    assert_eq!((after.settings.env, after.settings.args), (before.settings.env, before.settings.args));
    app.finish().await;
}

/// Generates text that line formats, forms or pages could misread as their own syntax.
pub(crate) fn hard() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[a-z]{1,4}",
        4 => prop::sample::select(vec!["\"", "'", "\\", "\n", "\r\n", "\r", "\t", " ", "=", "<", ">", "&", "{{", "}}", "$(A)"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["</textarea>", "&#60;", "&amp;", "<!--", "\\n", "\u{85}", "\u{a0}", "\u{feff}", "\u{2028}", "%0A", "+"]).prop_map(str::to_owned),
        1 => "[^\u{0}]",
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

#[test]
fn unchanged_form_of_arbitrary_template_keeps_it_identical() {
    let runtime = Runtime::new().unwrap();
    let app = runtime.block_on(App::start());
    let words = || prop::collection::vec(hard(), 0..4);
    let env = prop::collection::btree_map("[A-Z_][A-Z0-9_]{0,4}", hard(), 0..4);
    let name = "[!-~é]([ -~é]{0,20}[!-~])?";
    let template = (name, hard(), words(), words(), env, hard());
    proptest!(ProptestConfig::with_cases(64), |((name, description, command, args, env, value) in template)| {
        runtime.block_on(async {
            let id = app.template(&name, |template| {
                template["description"] = json!(description);
                template["command"] = json!([vec!["run".to_owned()], command].concat());
                template["args"] = json!(args);
                template["env"] = json!(env);
                let variable = json!({ "name": "v", "value": value });
                let container = json!({ "name": "app", "env": [variable] });
                template["pod_template"] = json!({ "spec": { "containers": [container] } });
            });
            let id = id.await;
            let (caller, key) = (app.admin(), Uuid::try_parse(&id).unwrap());
            let before = app.test.launcher.template(&caller, key).await.unwrap();
            let save = format!("{NEW}/{id}");
            let form = app.browser(ADMIN).get(&format!("{save}/edit")).await.form(&save);
            assert!(app.browser(ADMIN).post(&save, &borrowed(&form)).await.is_saved());
            assert_eq!(app.test.launcher.template(&caller, key).await.unwrap(), before);
        });
    });
    runtime.block_on(app.finish());
}

#[tokio::test]
async fn invalid_template_form_shows_field_errors_and_keeps_input() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let typed = [
        ("name", ""),
        ("description", "Kept <b>as</b> typed"),
        ("app_type", "custom"),
        ("image", "no spaces allowed"),
        ("port", "8o80"),
        ("env.0.name", "SERVICE_X"),
        ("env.0.value", "1"),
        ("env.1.name", "GOOD"),
        ("env.1.value", "line\nbreak"),
        ("args", "\"open | more"),
        ("cpu_request", "4"),
        ("cpu_limit", "2"),
        ("security_profile", "baseline"),
        ("lifetime_seconds", "5"),
    ];
    let page = admin.post(NEW, &typed).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    for field in ["name", "image", "port", "env-0-name", "args", "cpu_request", "lifetime_seconds"] {
        assert!(page.body.contains(&format!("id=\"field-{field}-error\"")), "{field} has an error beside it");
        assert!(page.body.contains(&format!("href=\"#field-{field}\"")), "{field} is in the summary");
    }
    assert!(
        page.body.contains("are set by the service") && page.body.contains("The quotation mark &#34; is not closed.")
    );
    assert!(!page.body.contains("field-description-error"));
    let kept = page.form(NEW);
    for (name, value) in typed {
        assert!(kept.contains(&(name.to_owned(), value.to_owned())), "{name} is kept: {kept:?}");
    }
    assert!(!kept.iter().any(|(name, _)| name == "active"), "the box stays as it was: not ticked");
    assert!(admin.get(NEW).await.body.contains("no workshops to launch"));
    app.finish().await;
}

#[tokio::test]
async fn conflicting_template_edit_is_reported_and_keeps_input() {
    let app = App::start().await;
    let template_id = app.template("Penguins", |_| {}).await;
    let (admin, save) = (app.browser(ADMIN), format!("{NEW}/{template_id}"));
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    assert!(admin.post(&save, &with(&form, "name", "Theirs")).await.is_saved());

    let conflict = admin.post(&save, &with(&form, "name", "Mine")).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    assert!(conflict.body.contains("Another administrator changed this template"));
    assert!(admin.get(NEW).await.body.contains("Theirs"));
    let again = conflict.form(&save);
    assert!(again.contains(&("name".to_owned(), "Mine".to_owned())));
    assert!(admin.post(&save, &borrowed(&again)).await.is_saved());
    assert!(admin.get(NEW).await.body.contains("Mine"));
    app.finish().await;
}

#[tokio::test]
async fn archived_template_leaves_catalog_until_restored() {
    let app = App::start().await;
    let template_id = app.template("Penguins", |_| {}).await;
    let admin = app.browser(ADMIN);
    assert_eq!(admin.post(&format!("{NEW}/{template_id}/archive"), &[]).await.location(), NEW);
    assert!(!app.browser(ALICE).get("/").await.body.contains("Penguins"));
    assert!(admin.get(NEW).await.body.contains("Archived"));
    assert_eq!(admin.post(&format!("{NEW}/{template_id}/restore"), &[]).await.location(), NEW);
    assert!(app.browser(ALICE).get("/").await.body.contains("Penguins"));
    app.finish().await;
}

#[tokio::test]
async fn template_copy_is_prefilled_and_inactive() {
    let app = App::start().await;
    let long = "P".repeat(80);
    let template = app
        .template(&long, |template| {
            template["args"] = json!(["--quiet", "a b"]);
            template["slug"] = json!("penguins");
        })
        .await;
    let admin = app.browser(ADMIN);
    let list = admin.get("/admin/templates").await;
    let path = format!("/admin/templates/new?from={template}");
    assert!(list.body.contains(&format!("href=\"{path}\"")), "{}", list.body);
    let form = admin.get(&path).await.form("/admin/templates");
    let value = |name: &str| form.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    assert_eq!(value("name"), Some(format!("Copy of {}", "P".repeat(72)).as_str()));
    assert_eq!(value("args"), Some("--quiet 'a b'"));
    assert_eq!((value("version"), value("active")), (None, None), "it is another one, and not offered yet");
    assert_eq!(admin.post("/admin/templates", &borrowed(&form)).await.status, StatusCode::SEE_OTHER);
    assert!(!app.browser(ALICE).get("/").await.body.contains("Copy of P"));
    assert_eq!(
        admin.get("/admin/templates/new?from=0198ffff-0000-7000-8000-000000000001").await.status,
        StatusCode::NOT_FOUND
    );
    app.finish().await;
}

#[tokio::test]
async fn template_preview_is_rendered_but_not_saved() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new").await.form(NEW);
    let mut fields = with(&form, "name", "Penguins & co");
    for (name, value) in [("image", "jupyter:1"), ("description", "# Bring **fish**\n\n<script>1</script>")] {
        fields.retain(|(known, _)| *known != name);
        fields.push((name, value));
    }
    fields.push(("then", "preview"));
    let page = admin.post(NEW, &fields).await;
    assert_eq!(page.status, StatusCode::OK);
    for words in
        ["Nothing is saved yet", "<h3><bdi>Penguins &#38; co</bdi></h3>", "<strong>fish</strong>", "Lasts 2 hours"]
    {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert!(!page.body.contains("<script>1"), "it is safe");
    assert!(admin.get(NEW).await.body.contains("no workshops to launch"), "nothing is saved");
    let kept = page.form(NEW);
    assert!(kept.contains(&("name".to_owned(), "Penguins & co".to_owned())), "{kept:?}");

    let wrong = admin.post(NEW, &[("name", ""), ("then", "preview")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!wrong.body.contains("Nothing is saved yet"), "an invalid template has no preview");
    app.finish().await;
}

#[tokio::test]
async fn inactive_template_can_be_tried_by_admins_only() {
    let app = App::start().await;
    let template_id = app.template("Penguins", |template| template["active"] = json!(false)).await;
    let (admin, save) = (app.browser(ADMIN), format!("{NEW}/{template_id}"));
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let mut fields = with(&form, "name", "Whales");
    fields.push(("then", "try"));
    let launch = format!("/launch/{template_id}");
    assert_eq!(admin.post(&save, &fields).await.location(), launch);
    let name = admin.launch(&template_id).await;
    assert!(name.starts_with("whales-"), "{name}");
    assert!(!app.browser(ALICE).get("/").await.body.contains("Whales"), "nobody else sees it yet");
    assert_eq!(app.browser(ALICE).post(&launch, &[]).await.status, StatusCode::CONFLICT);
    app.finish().await;
}

/// Returns the value of a field; empty if there is none.
fn value<'f>(form: &'f [(String, String)], name: &str) -> &'f str {
    form.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value.as_str())
}

#[tokio::test]
async fn first_fields_are_name_material_time_and_files() {
    let app = App::start().await;
    let page = app.browser(ADMIN).get("/admin/templates/new?preset=jupyterlab").await.body;
    let (first, folded) = page.split_once("<details class=\"fields\" id=\"more\">").unwrap();
    let labels = |part: &str| part.matches("<label for=\"field-").count();
    for field in ["name", "material_sources-0-url", "lifetime_seconds", "storage"] {
        assert!(first.contains(&format!("<label for=\"field-{field}\">")), "{field}: {first}");
    }
    assert_eq!(labels(first), 4 + 5, "the parts of a source on request: {first}");
    assert!(folded.contains("<label for=\"field-image\">"), "{folded}");
    app.finish().await;
}

#[tokio::test]
async fn chosen_size_fills_in_resources_which_can_be_changed() {
    let sizes = r#"[{"name": "small", "resources": {"cpu_limit": "1", "memory_limit": "1Gi"}},
        {"name": "<GPU>", "resources": {"cpu_limit": "8", "memory_limit": "32Gi"}}]"#;
    let policy = TemplatePolicy { sizes: Sizes::parse(sizes).unwrap(), ..TemplatePolicy::default() };
    let app = App::with(Options { policy, ..Options::default() }).await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new?preset=gradio").await;
    for text in ["<b>Small</b>", "<b>&#60;GPU&#62;</b>", "100m to 8 CPU, 256Mi to 32Gi memory", "<b>Other</b>"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let form = page.form(NEW);
    assert_eq!((value(&form, "size"), value(&form, "memory_limit")), ("small", "1Gi"), "enough for the preset");
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    assert_eq!((value(&form, "size"), value(&form, "memory_limit")), ("<GPU>", "32Gi"));
    let fields = with(&form, "size", "small");
    let saved = admin.post(NEW, &fields).await;
    assert!(saved.is_saved(), "{}", saved.body);
    let page = launcher_service::Page { limit: 10, after: None };
    let template = async || app.test.launcher.templates(&app.admin(), &page).await.unwrap().remove(0);
    let stored = template().await;
    assert_eq!(stored.settings.resources, policy_size(&app, "small"));

    let (edit, save) = (format!("{NEW}/{}/edit", stored.template_id), format!("{NEW}/{}", stored.template_id));
    let form = admin.get(&edit).await.form(&save);
    assert_eq!(value(&form, "size"), "small");
    assert!(admin.post(&save, &with(&form, "memory_limit", "3Gi")).await.is_saved());
    assert_eq!(template().await.settings.resources.memory_limit.as_str(), "3Gi", "typed over the figure of the size");
    let form = admin.get(&edit).await.form(&save);
    assert_eq!((value(&form, "size"), value(&form, "shown_size")), ("", ""));
    app.finish().await;
}

fn policy_size(app: &App, name: &str) -> Resources {
    app.test.launcher.sizes().named(name).unwrap().resources.clone()
}

#[tokio::test]
async fn buttons_add_and_remove_rows_and_keep_the_form() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    let mut fields = with(&form, "name", "Typed <name>");
    fields.retain(|(name, _)| *name != "material_sources.0.ref");
    fields.extend([("material_sources.0.ref", "main"), ("add", "parameters")]);
    let added = admin.post(NEW, &fields).await;
    assert_eq!(added.status, StatusCode::OK);
    assert!(added.body.contains("<details class=\"fields\" id=\"more\" open>"), "the row is visible");
    let form = added.form(NEW);
    assert_eq!((value(&form, "name"), value(&form, "material_sources.0.ref")), ("Typed <name>", "main"));
    assert_eq!((value(&form, "parameters.0.kind"), value(&form, "parameters.0.required")), ("text", "yes"));
    assert!(!added.body.contains("-error\""), "nothing is checked yet: {}", added.body);

    let mut fields = with(&form, "parameters.0.label", "First");
    fields.extend([("parameters.4.label", "Second"), ("parameters.4.kind", "number"), ("remove", "parameters.0")]);
    let removed = admin.post(NEW, &fields).await;
    assert_eq!(removed.status, StatusCode::OK);
    let mut form = removed.form(NEW);
    form.retain(|(name, _)| !name.starts_with("material_sources"));
    assert_eq!((value(&form, "parameters.0.label"), value(&form, "parameters.1.label")), ("Second", ""));
    assert!(admin.post(NEW, &borrowed(&form)).await.is_saved());
    let page = launcher_service::Page { limit: 10, after: None };
    let settings = app.test.launcher.templates(&app.admin(), &page).await.unwrap().remove(0).settings;
    let [parameter] = &settings.parameters[..] else { panic!("{settings:?}") };
    assert_eq!((&*parameter.name, parameter.required), ("SECOND", false));
    app.finish().await;
}

#[tokio::test]
async fn chosen_preset_replaces_the_app_and_keeps_the_rest() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=gradio").await.form(NEW);
    assert_eq!(value(&form, "env.0.name"), "GRADIO_ANALYTICS_ENABLED");
    let mut fields = with(&form, "tags", "typed");
    fields.push(("choose", "vscode"));
    let page = admin.post(NEW, &fields).await;
    assert_eq!(page.status, StatusCode::OK);
    let form = page.form(NEW);
    assert_eq!((value(&form, "name"), value(&form, "tags"), value(&form, "port")), ("VS Code", "typed", "8443"));
    assert_eq!((value(&form, "env.0.name"), value(&form, "preset")), ("", "vscode"));
    let mut fields = with(&form, "name", "Mine");
    fields.push(("choose", "jupyterlab"));
    let form = admin.post(NEW, &fields).await.form(NEW);
    assert_eq!((value(&form, "name"), value(&form, "app_type"), value(&form, "command")), ("Mine", "notebook", ""));
    assert!(admin.post(NEW, &borrowed(&form)).await.is_saved());
    app.finish().await;
}

#[tokio::test]
async fn short_link_of_a_new_template_comes_from_its_name() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new?preset=vscode").await;
    assert!(page.body.contains("/go/<b>vs-code</b>"), "{}", page.body);
    let form = page.form(NEW);
    for slug in ["einfuhrung-r", "einfuhrung-r-2"] {
        let fresh = with(&form, "name", "  Einf\u{fc}hrung: R!");
        let fields: Vec<_> = fresh.into_iter().filter(|(name, _)| *name != "template_id").collect();
        let list = admin.post(NEW, &fields).await.location().to_owned();
        assert!(admin.get(&list).await.body.contains(&format!("/go/{slug}\"")), "{slug}");
    }
    app.finish().await;
}

#[tokio::test]
async fn fields_that_the_fleet_ignores_are_absent_and_keep_their_values() {
    let ignored_fields = &["image", "port", "pod_template", "storage_path", "material_directory"];
    let process = ApiProcess { ignored_fields, ..ApiProcess::default() };
    let app = App::with(Options { process, ..Options::default() }).await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new").await;
    for field in ["image", "port", "pod_template", "shm_size", "gpu_count", "node_selector"] {
        assert!(!page.body.contains(&format!("id=\"field-{field}\"")), "{field}: {}", page.body);
    }
    assert!(page.body.contains("id=\"field-memory_limit\"") && !page.body.contains("Pod on Kubernetes"));
    let hint = "Files that are not kept survive a crash of the app.";
    assert!(page.body.contains(hint), "{}", page.body);
    // The author of a web app gives neither an image nor a port, and no directory of kept files and course material.
    let form = page.form(NEW).into_iter().map(|(name, text)| match &*name {
        "name" => (name, "Web".to_owned()),
        "app_type" => (name, "custom".to_owned()),
        "image" | "port" => (name, String::new()),
        "storage" => (name, "kept".to_owned()),
        "material_sources.0.url" => (name, "https://git.example.org/101.git".to_owned()),
        _ => (name, text),
    });
    let form: Vec<_> = form.collect();
    assert!(admin.post(NEW, &borrowed(&form)).await.is_saved());

    let id = app
        .template("Penguins", |template| {
            template["image"] = json!("registry.example/kept:1");
            template["pod_template"] = json!({ "spec": { "nodeSelector": { "a": "b" } } });
        })
        .await;
    let (caller, key, save) = (app.admin(), Uuid::try_parse(&id).unwrap(), format!("{NEW}/{id}"));
    let before = app.test.launcher.template(&caller, key).await.unwrap();
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    assert!(admin.post(&save, &borrowed(&form)).await.is_saved());
    assert_eq!(app.test.launcher.template(&caller, key).await.unwrap(), before);
    app.finish().await;
}

#[tokio::test]
async fn command_in_one_word_is_explained_at_its_field() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=web").await.form(NEW);
    let page = admin.post(NEW, &with(&form, "command", "\"python app.py\"")).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    let error = page.body.split("id=\"field-command-error\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(error.ends_with("[&#34;python&#34;,&#34;app.py&#34;]."), "{error}");
    app.finish().await;
}
