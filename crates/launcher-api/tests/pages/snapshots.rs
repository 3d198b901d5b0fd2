//! Files that are saved when a workshop ends: the page "Saved work", and the texts of the workshop.

use launcher_domain::{MaterialReport, SourceReport};
use launcher_testkit::{Options, eventually};
use serde_json::json;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed, row_actions};

const DELETED: &str = "The files in a workshop are deleted when it ends. Download";
const SAVED: &str = "The files are saved for 7 days when the workshop ends.";
const MISSING: &str = "00000000-0000-7000-8000-000000000000";

async fn saving() -> App {
    App::with(Options { saves_snapshots: true, ..Options::default() }).await
}

/// Launches a template as Alice, waits until it runs, and ends it. Returns the path of the workshop's page.
async fn ended(app: &App, template: &str) -> String {
    let page = format!("/instances/{}", app.browser(ALICE).launch(template).await);
    end(app, &page).await;
    page
}

/// Waits until the workshop of Alice with this page runs, and ends it.
async fn end(app: &App, page: &str) {
    let alice = app.browser(ALICE);
    alice.get_until(page, "Ready").await;
    alice.post(&format!("{page}/end"), &[]).await;
    alice.get_until(page, "Why it ended").await;
    alice.get_until(page, "<dt>Ended</dt>").await;
}

/// Returns the path of the newest snapshot on the page, with this last part.
fn path_of(page: &str, action: &str) -> String {
    let link = page.split('"').find(|part| part.starts_with("/work/snapshots/")).unwrap_or_else(|| panic!("{page}"));
    let (path, _) = link.rsplit_once('/').unwrap();
    format!("{path}/{action}")
}

#[tokio::test]
async fn pages_say_that_files_are_saved_only_if_the_end_saves_them() {
    for (app, saves) in [(saving().await, true), (App::start().await, false)] {
        let alice = app.browser(ALICE);
        let template = app.template("Penguins", |_| {}).await;
        let launch = alice.get(&format!("/launch/{template}")).await.body;
        assert_eq!((launch.contains(SAVED), launch.contains(DELETED)), (saves, !saves), "{launch}");
        assert_eq!(launch.contains("<span class=\"badge\">saves files for 7 days</span>"), saves, "{launch}");
        let name = alice.launch(&template).await;
        let detail = alice.get_until(&format!("/instances/{name}"), "Ready").await.body;
        assert_eq!((detail.contains(SAVED), detail.contains(DELETED)), (saves, !saves), "{detail}");
        let home = alice.get("/").await.body;
        let sentence = if saves { SAVED } else { DELETED };
        assert!(home.contains(&format!("hx-confirm=\"End this workshop? {sentence}")), "{home}");
        let question = alice.get(&format!("/instances/{name}/end")).await.body;
        assert!(question.contains(&format!("The workshop stops. {sentence}")), "{question}");
        let bulk = [("action", "end"), ("ticked", name.as_str())];
        let bulk = app.browser(ADMIN).post("/admin/instances/bulk", &bulk).await.body;
        assert!(bulk.contains(sentence), "{bulk}");
        for (guide, which) in [("/guide/students", "a"), ("/guide/teachers", "each")] {
            let guide = app.browser(ADMIN).get(guide).await.body;
            let says = format!("The page of {which} workshop says what happens to its files when it ends");
            assert!(guide.contains(&says) && !guide.contains("deleted when it ends"), "{guide}");
        }
        app.finish().await;
    }
}

#[tokio::test]
async fn end_of_workshop_that_never_ran_saves_no_files() {
    let app = App::with(Options { saves_snapshots: true, runs_at_once: false, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let waiting = alice.get(&format!("/instances/{name}/wait")).await.body;
    assert!(waiting.contains(SAVED) && !waiting.contains(DELETED), "{waiting}");
    let question = alice.get(&format!("/instances/{name}/end")).await.body;
    assert!(question.contains("The workshop has no files yet."), "{question}");
    alice.post(&format!("/instances/{name}/end"), &[]).await;
    let ended = alice.get_until(&format!("/instances/{name}"), "<dt>Ended</dt>").await.body;
    assert!(!ended.contains("role=\"note\""), "{ended}");
    app.finish().await;
}

#[tokio::test]
async fn ended_workshop_leads_to_its_files_until_they_are_deleted() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let page = ended(&app, &app.template("Penguins", |_| {}).await).await;
    let saved = alice.get(&page).await.body;
    let (_, notice) = saved.split_once("Your files are saved until <time datetime=\"").unwrap();
    let work = alice.get("/work").await.body;
    assert!(work.contains(notice.split('"').next().unwrap()), "both pages show the same time: {work}");
    assert!(notice.split("</p>").next().unwrap().contains("<a href=\"/work\">Saved work</a>"), "{notice}");
    let for_admin = app.browser(ADMIN).get(&page).await.body;
    assert!(for_admin.contains("<a href=\"/admin/work\">Saved work</a>"), "{for_admin}");
    assert!(!alice.get("/").await.body.contains("“Penguins” has ended."), "Alice ended it, and has her files");

    alice.post(&path_of(&work, "delete"), &[]).await;
    let deleted = alice.get(&page).await.body;
    assert!(deleted.contains("The saved files of this workshop were deleted.") && !deleted.contains("saved until"));
    app.finish().await;
}

#[tokio::test]
async fn start_page_says_that_files_of_expired_workshop_are_saved() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    alice.get_until("/", "Ready").await;
    app.test.clock.advance(std::time::Duration::from_secs(5 * 3600));
    let note = alice.get_until("/", "“Penguins” has ended.").await.body;
    let (_, note) = note.split_once(&format!("<a href=\"/instances/{name}\">“Penguins” has ended.")).unwrap();
    let note = note.split("</div>").next().unwrap();
    assert!(note.contains("Its time was up") && note.contains("Your files are saved until <time"), "{note}");
    app.finish().await;
}

#[tokio::test]
async fn failed_snapshot_is_reported_with_its_reason() {
    const LOST: &str = "Your files could not be saved. The service could not read them.";
    let app = saving().await;
    let alice = app.browser(ALICE);
    let page = format!("/instances/{}", alice.launch(&app.template("Penguins", |_| {}).await).await);
    alice.get_until(&page, "Ready").await;
    app.test.fleet.remove_archives();
    alice.post(&format!("{page}/end"), &[]).await;
    alice.get_until(&page, "<dt>Ended</dt>").await;
    let failed = alice.get(&page).await.body;
    assert!(failed.contains(LOST) && failed.contains("notice-bad"), "{failed}");
    let home = alice.get("/").await.body;
    assert!(home.contains("“Penguins” has ended.") && home.contains(LOST), "also after an end by Alice: {home}");
    assert!(alice.get("/history").await.body.contains(LOST));
    assert!(alice.get("/work").await.body.contains("There is no saved work yet."));
    app.finish().await;
}

#[tokio::test]
async fn snapshots_are_listed_downloaded_and_deleted_after_a_question() {
    let app = saving().await;
    let (alice, bob, admin) = (app.browser(ALICE), app.browser(BOB), app.browser(ADMIN));
    let empty = alice.get("/work").await.body;
    assert!(empty.contains("Some workshops save their files here when they end, for 7 days."), "{empty}");
    assert!(empty.contains("There is no saved work yet."), "{empty}");
    let page = ended(&app, &app.template("Penguins", |_| {}).await).await;
    let name = page.strip_prefix("/instances/").unwrap();
    let list = alice.get("/work").await.body;
    for text in ["Penguins", name, "1 kB", "Deleted on"] {
        assert!(list.contains(text), "{text}: {list}");
    }
    assert!(!list.contains("There is no saved work yet."), "{list}");
    assert!(!bob.get("/work").await.body.contains(name));
    assert!(!admin.get("/work").await.body.contains(name), "an admin sees it on the page of all users");
    let all = admin.get("/admin/work").await.body;
    assert!(all.contains(ALICE) && all.contains(name), "{all}");

    let (download, question) = (path_of(&list, "download"), path_of(&list, "delete"));
    let archive = alice.get(&download).await;
    assert_eq!(archive.header("content-type"), "application/gzip");
    assert_eq!(archive.header("content-disposition"), "attachment; filename=\"Penguins.tar.gz\"");
    for action in ["download", "delete"] {
        let theirs = bob.get(&path_of(&list, action)).await;
        let none = bob.get(&format!("/work/snapshots/{MISSING}/{action}")).await;
        assert_eq!((theirs.status.as_u16(), &theirs.body), (404, &none.body));
    }
    assert_eq!(bob.post(&question, &[]).await.status, 404);

    let asked = admin.get(&format!("{question}?return_to=/admin/work")).await;
    assert!(asked.body.contains("Delete the saved work of “Penguins”?") && asked.body.contains(ALICE));
    assert!(!alice.get(&question).await.body.contains("It belongs to"));
    let answer = admin.post(&question, &borrowed(&asked.form(&question))).await;
    assert_eq!(answer.location(), "/admin/work");
    assert!(!alice.get("/work").await.body.contains(name));
    let log = admin.get("/admin/activity").await.body;
    assert!(log.contains("admin@example.org deleted alice@example.org&#39;s saved work of "), "{log}");
    app.finish().await;
}

#[tokio::test]
async fn cursor_of_snapshots_shows_older_ones() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let older = ended(&app, &template).await.replace("/instances/", "");
    let newer = ended(&app, &template).await.replace("/instances/", "");
    let list = alice.get("/work").await.body;
    let newest = path_of(&list, "").trim_matches('/').rsplit('/').next().unwrap().to_owned();
    let rest = alice.get(&format!("/work?snapshots_after={newest}")).await.body;
    assert!(list.contains(&newer) && rest.contains(&older) && !rest.contains(&newer), "{rest}");
    app.finish().await;
}

#[tokio::test]
async fn return_path_of_deletion_never_leaves_the_lists() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    ended(&app, &app.template("Penguins", |_| {}).await).await;
    let delete = path_of(&alice.get("/work").await.body, "delete");
    assert_eq!(alice.post(&delete, &[("return_to", "//evil.example")]).await.location(), "/work");
    app.finish().await;
}

#[tokio::test]
async fn saved_files_are_shown_in_every_language() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let page = ended(&app, &app.template("Penguins", |_| {}).await).await;
    for (language, notice, heading) in [
        ("de", "Ihre Dateien sind bis", "Wird gelöscht am"),
        ("es", "Tus archivos están guardados hasta", "Se elimina el"),
        ("fr", "Vos fichiers sont enregistrés jusqu’au", "Supprimé le"),
        ("zh", "您的文件保存至", "删除时间"),
        ("ar", "ملفاتك محفوظة حتى", "وقت الحذف"),
    ] {
        for (path, text) in [(page.as_str(), notice), ("/work", heading)] {
            let request = alice.request(http::Method::GET, path).header("accept-language", language);
            let shown = request.send().await.unwrap().text().await.unwrap();
            assert!(shown.contains(text), "{language} {path}: {shown}");
        }
    }
    app.finish().await;
}

/// Returns the hidden fields of the first form that launches with saved files.
fn files_form(page: &str, template: &str) -> Vec<(String, String)> {
    let start = format!("<form method=\"post\" action=\"/launch/{template}\">");
    let forms = page.split(&start).skip(1).map(|form| form.split("</form>").next().unwrap());
    let form =
        forms.into_iter().find(|form| form.contains("Launch with these files")).unwrap_or_else(|| panic!("{page}"));
    let value = |input: &str, name: &str| {
        input.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    form.split("<input ").skip(1).map(|input| (value(input, "name"), value(input, "value"))).collect()
}

#[tokio::test]
async fn saved_files_are_launched_from_their_list_and_from_the_ended_workshop() {
    let app = saving().await;
    let (alice, bob, admin) = (app.browser(ALICE), app.browser(BOB), app.browser(ADMIN));
    let template = app.template("Penguins", |_| {}).await;
    let page = ended(&app, &template).await;
    let snapshot =
        path_of(&alice.get("/work").await.body, "").trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let path = format!("/launch/{template}");
    for place in ["/work", &page] {
        let form = files_form(&alice.get(place).await.body, &template);
        assert!(form.contains(&("snapshot".to_owned(), snapshot.clone())), "{place}: {form:?}");
        let waiting = alice.post(&path, &borrowed(&form)).await.location().to_owned();
        assert_eq!(alice.post(&path, &borrowed(&form)).await.location(), waiting, "a double click");
        let name = waiting.split('/').nth(2).unwrap();
        let spec = eventually(async || app.test.fleet.workshop(name)).await.spec;
        assert_eq!(spec.restore.unwrap().snapshot, snapshot, "{place}");
    }
    let ended = alice.get(&page).await.body;
    let (files, again) = (ended.find("Launch with these files").unwrap(), ended.find("Launch again").unwrap());
    assert!(files < again, "the first action: {ended}");
    assert!(!admin.get(&page).await.body.contains("Launch with these files"), "only the owner");
    assert!(!admin.get("/admin/work").await.body.contains("Launch with these files"), "only the owner");

    let with_files = format!("{path}?snapshot={snapshot}");
    let launch = alice.get(&with_files).await.body;
    assert!(launch.contains("The workshop starts with your saved files:"), "{launch}");
    assert!(launch.contains(&format!("name=\"snapshot\" value=\"{snapshot}\"")), "{launch}");
    for person in [&bob, &admin] {
        let unknown = person.get(&format!("{path}?snapshot={MISSING}")).await;
        let foreign = person.get(&with_files).await;
        assert_eq!((foreign.status.as_u16(), foreign.timeless()), (404, unknown.timeless()));
        let form = [("snapshot", snapshot.as_str())];
        assert_eq!(person.post(&path, &form).await.status.as_u16(), 404);
    }
    app.test.fleet.remove_restore();
    let refused = alice.post(&path, &[("snapshot", snapshot.as_str())]).await;
    assert_eq!(refused.status.as_u16(), 422);
    assert!(refused.body.contains("survive a crash of the app: launch without it"), "{}", refused.body);
    app.finish().await;
}

#[tokio::test]
async fn launch_with_saved_files_has_the_values_of_the_ended_workshop_except_secrets() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let parameters = json!([
        { "name": "COURSE", "label": "Course", "kind": "text", "required": false },
        { "name": "TOKEN", "label": "Token", "kind": "secret", "required": false },
    ]);
    let template = app.template("Penguins", |template| template["parameters"] = parameters).await;
    let launched = alice.post(&format!("/launch/{template}"), &[("p.COURSE", "101"), ("p.TOKEN", "hush")]).await;
    let page = launched.location().strip_suffix("/wait").unwrap();
    end(&app, page).await;
    let form = files_form(&alice.get(page).await.body, &template);
    let values: Vec<_> = borrowed(&form).into_iter().filter(|(name, _)| name.starts_with("p.")).collect();
    assert_eq!(values, [("p.COURSE", "101")]);
    app.finish().await;
}

#[tokio::test]
async fn workshop_with_saved_files_is_tried_again_with_them() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    ended(&app, &template).await;
    let form = files_form(&alice.get("/work").await.body, &template);
    let (_, snapshot) = form.iter().find(|(field, _)| field == "snapshot").unwrap();
    let waiting = alice.post(&format!("/launch/{template}"), &borrowed(&form)).await.location().to_owned();
    let name = waiting.split('/').nth(2).unwrap();
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    let failed = MaterialReport { sources: vec![SourceReport::failed("stats", "The server does not answer.")] };
    app.test.fleet.report_material(name, failed);
    let again = format!("/instances/{name}/try-again");
    let form = alice.get_until(&waiting, "The course files did not load").await.form(&again);

    let launched = alice.post(&again, &borrowed(&form)).await;
    let name = launched.location().split('/').nth(2).unwrap();
    let spec = eventually(async || app.test.fleet.workshop(name)).await.spec;
    assert_eq!(spec.restore.map(|restore| restore.snapshot).as_ref(), Some(snapshot));
    app.finish().await;
}

#[tokio::test]
async fn saved_files_have_one_visible_action_and_a_menu() {
    let app = saving().await;
    ended(&app, &app.template("Penguins", |_| {}).await).await;
    // Only the owner launches with the files.
    for (email, list, action) in [(ALICE, "/work", "action=\"/launch/"), (ADMIN, "/admin/work", "/download\"")] {
        let page = app.browser(email).get(list).await.body;
        let (visible, menu) = row_actions(&page, "/work/snapshots/");
        assert!(visible.matches("class=\"button").count() == 1 && visible.contains(action), "{visible}");
        assert_eq!(menu.contains("/download\""), email == ALICE, "{menu}");
        assert!(menu.contains("/download?format=zip\"") && menu.contains("/delete?"), "{menu}");
    }
    app.finish().await;
}

#[tokio::test]
async fn failed_launch_with_saved_files_is_repeated_with_them() {
    let app = App::with(Options { saves_snapshots: true, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    ended(&app, &template).await;
    let form = files_form(&alice.get("/work").await.body, &template);
    let waiting = alice.post(&format!("/launch/{template}"), &borrowed(&form)).await.location().to_owned();
    let name = waiting.split('/').nth(2).unwrap();
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    app.test.fleet.fail(name, launcher_domain::FailureCode::FilesNotRestored, "");
    let failed = alice.get_until(&format!("/instances/{name}"), "could not be placed").await;
    assert!(failed.body.contains("Your saved files are unchanged."), "{}", failed.body);
    let snapshot = form.iter().find(|(name, _)| name == "snapshot").unwrap();
    let again = failed.form(&format!("/launch/{template}"));
    assert!(again.contains(snapshot), "{again:?}");
    app.finish().await;
}

#[tokio::test]
async fn saved_files_are_downloaded_as_zip() {
    let app = saving().await;
    let alice = app.browser(ALICE);
    ended(&app, &app.template("Penguins", |_| {}).await).await;
    let list = alice.get("/work").await.body;
    let path = path_of(&list, "download?format=zip");
    assert!(list.contains(&format!("href=\"{path}\"")), "{list}");
    let archive = alice.get(&path).await;
    assert_eq!(archive.header("content-type"), "application/zip");
    assert_eq!(archive.header("content-disposition"), "attachment; filename=\"Penguins.zip\"");
    assert!(archive.body.starts_with("PK\u{3}\u{4}"), "{:?}", archive.body);
    assert_eq!(alice.get(&path.replace("=zip", "=rar")).await.status.as_u16(), 422);
    app.finish().await;
}
