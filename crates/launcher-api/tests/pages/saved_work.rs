//! Kept files: the page "Saved work", and the texts of workshops that keep their files.

use launcher_domain::FailureCode;
use launcher_testkit::eventually;
use serde_json::{Value, json};

use crate::support::{ADMIN, ALICE, App, BOB, borrowed, row_actions};

const DELETED: &str = "The files in a workshop are deleted when it ends. Download";
const KEPT: &str = "The files are kept when the workshop ends: the next launch has them again. They are deleted after 180 days without use.";

pub(crate) fn kept(template: &mut Value) {
    template["storage"] = json!({ "kind": "kept", "size": "2Gi" });
}

/// Launches a template, waits until it runs, and ends it. Returns the name of its volume.
async fn used_volume(app: &App, template: &str) -> String {
    let alice = app.browser(ALICE);
    let name = alice.launch(template).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    let volume = app.test.fleet.workshop(&name).unwrap().spec.storage.unwrap().volume;
    alice.post(&format!("{detail}/end"), &[]).await;
    alice.get_until(&detail, "Why it ended").await;
    volume
}

#[tokio::test]
async fn pages_say_if_files_are_kept() {
    let app = App::start().await;
    let (without, with) = (app.template("Stones", |_| {}).await, app.template("Penguins", kept).await);
    let alice = app.browser(ALICE);
    let card = async |template: &str| {
        let home = alice.get("/").await.body;
        home.split_once(&format!("id=\"card-{template}\"")).unwrap().1.split("</li>").next().unwrap().to_owned()
    };
    for (template, shown, hidden, chip) in [
        (without, DELETED, KEPT, "<span class=\"badge\">deletes files at the end</span>"),
        (with, KEPT, DELETED, "<span class=\"badge\">keeps files</span>"),
    ] {
        assert!(card(&template).await.contains(chip));
        let launch = alice.get(&format!("/launch/{template}")).await.body;
        assert!(launch.contains(shown) && !launch.contains(hidden), "{launch}");
        let name = alice.launch(&template).await;
        let detail = alice.get_until(&format!("/instances/{name}"), "Ready").await.body;
        assert!(detail.contains(shown) && !detail.contains(hidden), "{detail}");
        assert!(
            alice.get(&format!("/instances/{name}/end")).await.body.contains(&format!("The workshop stops. {shown}"))
        );
    }
    app.finish().await;
}

#[tokio::test]
async fn failed_workshop_with_kept_files_does_not_say_that_they_are_lost() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", kept).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    app.test.fleet.fail(&name, FailureCode::Crashed, "");
    let failed = alice.get_until(&detail, "The saved files of this workshop are kept.").await.body;
    assert!(!failed.contains("are lost"), "{failed}");
    app.finish().await;
}

#[tokio::test]
async fn workshop_that_fails_without_space_for_its_kept_files_says_how_to_make_space() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", kept).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    app.test.fleet.fail(&name, FailureCode::Crashed, "OSError: [Errno 28] No space left on device: 'x'");
    let failed = alice.get_until(&detail, "The saved files of this workshop are kept.").await.body;
    assert!(
        failed.contains("download them on the page Saved work") && !failed.contains("to continue with them"),
        "{failed}"
    );
    assert!(failed.contains("give you more space. <a href=\"/work\">Saved work</a>"), "{failed}");
    app.finish().await;
}

#[tokio::test]
async fn saved_work_is_listed_and_deleted_after_a_question() {
    let app = App::start().await;
    let template = app.template("Penguins", kept).await;
    let alice = app.browser(ALICE);
    assert!(alice.get("/work").await.body.contains("There is no saved work yet."));
    let volume = used_volume(&app, &template).await;

    let question = format!("/work/{volume}/delete");
    let list = alice.get_until("/work", &question).await.body;
    assert!(list.contains("Penguins") && list.contains("2Gi"), "{list}");
    let (visible, menu) = row_actions(&list, &question);
    assert!(visible.matches("class=\"button").count() == 1 && visible.contains("/download\""), "{visible}");
    assert!(menu.contains("/download?format=zip\"") && menu.contains(&question), "{menu}");
    assert!(!app.browser(BOB).get("/work").await.body.contains(&volume));
    assert!(!app.browser(ADMIN).get("/work").await.body.contains(&volume), "an admin sees it on the page of all users");
    let all = app.browser(ADMIN).get("/admin/work").await.body;
    assert!(all.contains(ALICE) && all.contains(&volume), "{all}");

    let download = format!("/work/{volume}/download");
    assert!(list.contains(&download), "{list}");
    assert_eq!(alice.get(&download).await.headers["content-type"], "application/gzip");
    assert!(
        !alice.get("/work").await.body.contains("Downloads of your files"),
        "the owner's own download has no entry"
    );
    assert_eq!(app.browser(ADMIN).get(&download).await.headers["content-type"], "application/gzip");
    let seen = alice.get("/work").await.body;
    assert!(seen.contains("Downloads of your files by administrators"), "{seen}");
    let entry = format!("{ADMIN} downloaded the saved work of <a href=\"/work\">Penguins</a>.");
    assert!(seen.contains(&entry), "{seen}");
    let logged = app.browser(ADMIN).get("/admin/activity").await.body;
    assert!(logged.contains(&format!("{ADMIN} downloaded {ALICE}")), "{logged}");
    assert!(!app.browser(ADMIN).get("/work").await.body.contains("Downloads of your files"));
    app.test.fleet.delay_archives(true);
    assert!(alice.get(&download).await.body.contains("The files could not be opened in time."));
    app.test.fleet.remove_archives();
    assert!(!alice.get("/work").await.body.contains(&download));
    assert!(alice.get(&download).await.body.contains("Open a workshop of this template"));

    let confirm = alice.get(&format!("{question}?return_to=/work")).await;
    assert!(confirm.body.contains("Delete the saved work of “Penguins”?"), "{}", confirm.body);
    let answer = alice.post(&question, &borrowed(&confirm.form(&question))).await;
    assert_eq!(answer.location(), "/work");
    assert!(!alice.get("/work").await.body.contains(&volume));
    eventually(async || app.test.fleet.volumes().is_empty().then_some(())).await;
    let log = app.browser(ADMIN).get("/admin/activity").await.body;
    assert!(log.contains("alice@example.org deleted the saved work of "), "{log}");
    app.finish().await;
}

#[tokio::test]
async fn work_in_use_is_not_deleted_and_launches_only_once() {
    let app = App::start().await;
    let template = app.template("Penguins", kept).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    let volume = app.test.fleet.workshop(&name).unwrap().spec.storage.unwrap().volume;
    let list = alice.get("/work").await.body;
    assert!(list.contains("In use") && !list.contains(&format!("/work/{volume}/delete")), "{list}");
    let refused = alice.post(&format!("/work/{volume}/delete"), &[]).await;
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("Another workshop uses these files.") && refused.body.contains(&name));

    let second = alice.post(&format!("/launch/{template}"), &[]).await;
    assert_eq!(second.status, 409);
    assert!(second.body.contains(&format!("Your workshop {name} uses them.")), "{}", second.body);
    app.finish().await;
}

#[tokio::test]
async fn return_path_of_deletion_never_leaves_the_lists() {
    let app = App::start().await;
    let volume = used_volume(&app, &app.template("Penguins", kept).await).await;
    app.browser(ALICE).get_until("/work", &format!("/work/{volume}/delete")).await;
    let answer = app.browser(ALICE).post(&format!("/work/{volume}/delete"), &[("return_to", "//evil.example")]).await;
    assert_eq!(answer.location(), "/work");
    app.finish().await;
}

#[tokio::test]
async fn editor_saves_storage_and_reports_its_errors_at_the_fields() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let template = app.template("Penguins", kept).await;
    let edit = format!("/admin/templates/{template}/edit");
    let action = format!("/admin/templates/{template}");
    let form = admin.get(&edit).await.form(&action);
    let value = |name: &str| form.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
    assert_eq!(value("storage").as_deref(), Some("kept"));
    assert_eq!(value("storage_size").as_deref(), Some("2Gi"));
    assert_eq!(value("storage_path").as_deref(), Some("/home/jovyan"));

    let changed = |name: &str, value: &str| {
        let mut form = form.clone();
        form.iter_mut().filter(|(field, _)| field == name).for_each(|(_, old)| *old = value.to_owned());
        form
    };
    let wrong = admin.post(&action, &borrowed(&changed("storage_path", "/etc"))).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("field-storage_path-error") && wrong.body.contains("outside of /etc"));
    let saved = admin.post(&action, &borrowed(&changed("storage", ""))).await;
    assert_eq!(saved.status, 303);
    let read: serde_json::Value =
        serde_json::from_str(&admin.get(&format!("/api/v1/templates/{template}")).await.body).unwrap();
    assert_eq!(read["storage"], serde_json::Value::Null);
    app.finish().await;
}

#[tokio::test]
async fn address_of_an_ended_workshop_says_if_its_kept_files_are_still_there() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", kept).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    let volume = app.test.fleet.workshop(&name).unwrap().spec.storage.unwrap().volume;
    alice.post(&format!("{detail}/end"), &[]).await;
    alice.get_until(&detail, "<dt>Ended</dt>").await;
    let told = async || {
        let answer = alice.get(&format!("/_launcher/class/{name}/stopped")).await.body;
        let told: Value = serde_json::from_str(&answer).unwrap();
        let all = |list: &str, field: &str| -> Vec<String> {
            let entries = told[list].as_array().unwrap().iter();
            entries.map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
        };
        (all("paragraphs", "text"), all("links", "label"))
    };
    let (begin, end) = ("You ended “Penguins”.", "It ended at {time}.");

    let (texts, links) = told().await;
    assert_eq!(texts, [begin, end, "Your files are kept. Your next launch has them again."]);
    assert_eq!(links, ["Launch again", "Download", "Saved work", "Open its page"]);

    assert_eq!(alice.post(&format!("/work/{volume}/delete"), &[]).await.location(), "/work");
    let (texts, links) = told().await;
    assert_eq!(texts, [begin, end, "The files of this workshop are deleted."]);
    assert_eq!(links, ["Launch again", "Open its page"]);
    app.finish().await;
}
