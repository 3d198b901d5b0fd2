//! Course material: the notices about it, and its fields in the template editor.

use http::StatusCode;
use launcher_domain::{Material, MaterialKind, MaterialOutcome, MaterialReport, SourceReport};
use launcher_testkit::eventually;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{ADMIN, ALICE, App, borrowed, with};

const NEW: &str = "/admin/templates";

fn source(outcome: MaterialOutcome, conflicts: &[&str], conflict_count: u32) -> SourceReport {
    SourceReport {
        outcome,
        version: Some("0123abcd".to_owned()),
        conflicts: conflicts.iter().map(|path| (*path).to_owned()).collect(),
        conflict_count,
        message: None,
        ..SourceReport::failed("stats-101", "")
    }
}

fn report(source: SourceReport) -> MaterialReport {
    MaterialReport { sources: vec![source] }
}

/// Returns the notice on a page; empty if there is none.
fn notice(page: &str) -> &str {
    let notice = page.split_once("notice-wait\" role=\"note\">").map_or("", |(_, rest)| rest);
    notice.split_once("</div>").map_or("", |(notice, _)| notice)
}

#[tokio::test]
async fn failure_and_conflicts_are_shown_on_both_pages() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    assert_eq!(notice(&alice.get_until(&detail, "Ready").await.body), "");
    for (source, sentences) in [
        (
            SourceReport::failed("data", "The server <b>does</b> not answer."),
            vec![
                "The course material for the folder data could not be loaded.",
                "<bdi>The server &#60;b&#62;does&#60;/b&#62; not answer.</bdi>",
                "The workshop started anyway.",
            ],
        ),
        (
            source(MaterialOutcome::Updated, &["week1/<a>.ipynb", "b.txt"], 3),
            vec![
                "You and your teacher both changed 3 files in the folder stats-101.",
                "<li><bdi>week1/&#60;a&#62;.ipynb</bdi></li>",
                "<li><bdi>b.txt</bdi></li>",
                "Your files are unchanged.",
            ],
        ),
    ] {
        app.test.fleet.report_material(&name, report(source));
        for page in [&detail, "/"] {
            let shown = alice.get_until(page, sentences[0]).await.body;
            for sentence in &sentences {
                assert!(notice(&shown).contains(sentence), "{sentence}: {shown}");
            }
            assert!(shown.contains("Ready"), "the workshop stays ready: {shown}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn successful_sources_are_listed_without_a_notice() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    for (outcome, text) in [
        (MaterialOutcome::Placed, "<dd>stats-101: loaded</dd>"),
        (MaterialOutcome::Updated, "<dd>stats-101: updated</dd>"),
        (MaterialOutcome::Unchanged, "<dd>stats-101: up to date</dd>"),
    ] {
        app.test.fleet.report_material(&name, report(source(outcome, &[], 0)));
        let shown = alice.get_until(&detail, text).await.body;
        assert!(shown.contains("<dt>Course material</dt>"), "{shown}");
        assert_eq!(notice(&shown), "");
    }
    app.finish().await;
}

fn owned(form: Vec<(&str, &str)>) -> Vec<(String, String)> {
    form.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

async fn material(app: &App, id: &str) -> Option<Material> {
    let id = Uuid::try_parse(id).unwrap();
    app.test.launcher.template(&app.admin(), id).await.unwrap().settings.material
}

/// Returns the error beside a field; empty if there is none.
fn error<'p>(page: &'p str, field: &str) -> &'p str {
    let after = page.split_once(&format!("id=\"field-{field}-error\">"));
    after.and_then(|(_, rest)| rest.split('<').next()).unwrap_or_default()
}

#[tokio::test]
async fn sources_are_typed_in_rows_and_shown_again() {
    let app = App::start().await;
    let (admin, id) = (app.browser(ADMIN), app.template("Penguins", |_| {}).await);
    let save = format!("{NEW}/{id}");
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let sha256 = "ab".repeat(32);
    let mut fields = with(&form, "material_sources.0.url", "https://git.example.org/101.git");
    fields.extend([
        ("material_sources.2.url", "https://example.org/data.zip?a=1&b=2"),
        ("material_sources.2.sha256", &sha256),
        ("material_sources.2.folder", "week 1"),
        ("material_sources.2.secret", "statistics"),
    ]);
    let form = owned(fields);
    let form = with(&form, "material_allowed_repositories", "https://git.example.org/team/\r\n");
    assert!(admin.post(&save, &form).await.is_saved());
    let stored = material(&app, &id).await.unwrap();
    let [git, archive] = &stored.sources[..] else { panic!("{stored:?}") };
    assert_eq!((git.kind, git.target.as_str()), (MaterialKind::Git, "101"));
    assert_eq!((archive.kind, archive.target.as_str()), (MaterialKind::Archive, "data"));
    assert_eq!(archive.folder.as_deref(), Some("week 1"));
    assert_eq!((git.secret.as_deref(), archive.secret.as_deref()), (None, Some("statistics")));
    assert_eq!(stored.allowed_repositories, ["https://git.example.org/team/"]);

    let shown = admin.get(&format!("{save}/edit")).await.form(&save);
    assert!(admin.post(&save, &with(&shown, "name", "Gulls")).await.is_saved());
    assert_eq!(material(&app, &id).await, Some(stored), "a form with unchanged sources does not change them");
    let shown = admin.get(&format!("{save}/edit")).await.form(&save);
    let form = shown
        .into_iter()
        .map(|(name, text)| if name.starts_with("material_") { (name, String::new()) } else { (name, text) });
    let form: Vec<_> = form.collect();
    assert!(admin.post(&save, &borrowed(&form)).await.is_saved());
    assert_eq!(material(&app, &id).await, None);
    app.finish().await;
}

#[tokio::test]
async fn wrong_sources_have_their_errors_at_their_parts() {
    let app = App::start().await;
    let (admin, id) = (app.browser(ADMIN), app.template("Penguins", |_| {}).await);
    let save = format!("{NEW}/{id}");
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let mut fields = with(&form, "material_allowed_repositories", "http://a.example/");
    fields.retain(|(name, _)| *name != "material_sources.0.url");
    fields.extend([
        ("material_sources.0.url", "https://a.example/x"),
        ("material_sources.1.url", ""),
        ("material_sources.2.url", "ftp://a.example/y"),
        ("material_sources.3.url", "http://a.example/z"),
        ("material_sources.3.secret", "Pa$$word"),
        ("material_sources.4.url", "https://a.example/y.zip?a=b"),
    ]);
    let page = admin.post(&save, &fields).await.body;
    for (part, wrong) in [
        ("material_sources-2-url", "An address that begins with"),
        ("material_sources-3-url", "The address must begin with https:// because the source has a secret"),
        ("material_sources-3-secret", "The name of a secret, not a password"),
        ("material_sources-4-sha256", "Required for an archive"),
        ("material_allowed_repositories", "Entry 1: the beginning of an address"),
    ] {
        assert!(error(&page, part).starts_with(wrong), "{part}: {}\n{page}", error(&page, part));
    }
    assert_eq!(error(&page, "material_sources-0-url"), "");
    assert_eq!(material(&app, &id).await, None);
    app.finish().await;
}

/// Returns the value of a field; empty if there is none.
fn value<'f>(form: &'f [(String, String)], name: &str) -> &'f str {
    form.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value.as_str())
}

#[tokio::test]
async fn check_says_what_it_found_and_fills_in_the_checksum() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let page = admin.get("/admin/templates/new?preset=jupyterlab").await;
    assert!(!page.body.contains("name=\"check\""), "without a check, there is no button");
    app.test.fleet.check_sources();
    let page = admin.get("/admin/templates/new?preset=jupyterlab").await;
    assert!(page.body.contains("name=\"check\" value=\"material_sources.0\""), "{}", page.body);
    let form = page.form(NEW);
    let check = async |url: &'static str| {
        let mut fields = with(&form, "material_sources.0.url", url);
        fields.push(("check", "material_sources.0"));
        admin.post(NEW, &fields).await
    };
    let found = check("https://git.example.org/101.git").await;
    assert!(found.body.contains("Found: branch main, commit 0123456789, 12 files, 35 kB."), "{}", found.body);
    let missing = check("https://git.example.org/missing.git").await;
    assert!(missing.body.contains("The server does not have the material."), "{}", missing.body);
    let archive = check("https://example.org/data.zip").await;
    assert!(archive.body.contains("Found: an archive, 1 file, 1 kB."), "{}", archive.body);
    assert_eq!(value(&archive.form(NEW), "material_sources.0.sha256"), "ab".repeat(32));
    let wrong = check("ftp://example.org/data.zip").await;
    assert!(error(&wrong.body, "material_sources-0-url").starts_with("An address that begins"), "{}", wrong.body);
    assert!(admin.post(NEW, &borrowed(&archive.form(NEW))).await.is_saved());
    app.finish().await;
}

#[tokio::test]
async fn new_material_is_checked_before_it_is_saved() {
    let app = App::start().await;
    app.test.fleet.check_sources();
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    let typed = with(&form, "material_sources.0.url", "https://git.example.org/missing.git");
    let refused = admin.post(NEW, &typed).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for words in ["Nothing is saved yet", "The server does not have the material.", "value=\"anyway\">Save anyway"] {
        assert!(refused.body.contains(words), "{words}: {}", refused.body);
    }
    assert!(admin.get(NEW).await.body.contains("no workshops to launch"));
    let again = refused.form(NEW);
    let saved = admin.post(NEW, &with(&again, "then", "anyway")).await;
    assert!(saved.is_saved());
    let id = saved.location().split('=').nth(1).unwrap().to_owned();
    assert_eq!(material(&app, &id).await.unwrap().sources.len(), 1);

    // Material that the template has already is not checked again; the checksum of a new archive is filled in.
    let save = format!("{NEW}/{id}");
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let mut fields = with(&form, "name", "Gulls");
    fields.push(("material_sources.1.url", "https://example.org/data.zip"));
    assert!(admin.post(&save, &fields).await.is_saved());
    let stored = material(&app, &id).await.unwrap();
    assert_eq!(stored.sources[1].sha256.as_deref(), Some(&*"ab".repeat(32)));
    app.finish().await;
}

fn allow(template: &mut Value) {
    template["material"] = json!({ "allowed_repositories": ["https://git.example.org/team/"] });
    template["slug"] = json!("penguins");
}

const LINK: &str = "repo=https://git.example.org/team/ex-1.git&ref=main&path=week%201";

#[tokio::test]
async fn repository_of_a_link_is_confirmed_and_added_to_the_launch() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let id = app.template("Penguins", allow).await;
    let launch = format!("/launch/{id}");
    assert_eq!(alice.get(&format!("/go/penguins?{LINK}")).await.location(), format!("{launch}?{LINK}"));

    let page = alice.get(&format!("{launch}?{LINK}&start=1")).await;
    assert_eq!(page.status, StatusCode::OK, "the reader must confirm the repository");
    for shown in ["<bdi>https://git.example.org/team/ex-1.git</bdi>", "<bdi>main</bdi>", "<bdi>week 1</bdi>"] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    let waiting = alice.post(&launch, &borrowed(&page.form(&launch))).await;
    let name = waiting.location().split('/').nth(2).unwrap().to_owned();
    let workshop = eventually(async || app.test.fleet.workshop(&name)).await;
    let material = workshop.spec.material.unwrap();
    assert_eq!(material.sources.len(), 1);
    assert_eq!(material.sources[0].target, "ex-1");
    assert_eq!(material.sources[0].folder.as_deref(), Some("week 1"));
    app.finish().await;
}

#[tokio::test]
async fn repository_that_the_template_does_not_allow_is_refused() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let (allowing, other) = (app.template("Penguins", allow).await, app.template("Gulls", |_| {}).await);
    for (id, link) in [
        (&allowing, "repo=https://evil.example/team/ex-1.git"),
        (&allowing, "repo=https://git.example.org/team/..%2Fothers/a"),
        (&allowing, "repo=https://git.example.org/team/a&ref=--upload-pack%3Dx"),
        (&other, "repo=https://git.example.org/team/ex-1.git"),
    ] {
        let page = alice.get(&format!("/launch/{id}?{link}")).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{link}");
        assert!(page.body.contains("The link names a repository that cannot be used"), "{}", page.body);
        let sent = [("repo", "https://evil.example/a"), ("idempotency_key", "k")];
        let refused = alice.post(&format!("/launch/{id}"), &sent).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "a changed form");
    }
    assert!(!alice.get("/").await.body.contains("/instances/"), "nothing is launched");
    app.finish().await;
}
