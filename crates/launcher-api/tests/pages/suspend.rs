//! The buttons "Pause" and "Resume".

use serde_json::{Value, json};

use crate::saved_work::kept;
use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

#[tokio::test]
async fn workshop_is_paused_after_a_question_and_resumed_to_the_waiting_page() {
    let app = App::start().await;
    let template = app.template("Penguins", kept).await;
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    let name = alice.launch(&template).await;
    let detail = format!("/instances/{name}");
    let (pause, resume) = (format!("{detail}/suspend"), format!("{detail}/resume"));
    let ready = alice.get_until(&detail, "Ready").await.body;
    assert!(ready.contains(&pause) && !ready.contains(&resume), "{ready}");
    assert!(alice.get("/").await.body.contains("hx-confirm=\"Pause this workshop?"));

    let question = alice.get(&format!("{pause}?return_to={detail}")).await;
    assert!(question.body.contains("Pause “Penguins”?") && question.body.contains("work that is not saved is lost"));
    let answer = alice.post(&pause, &borrowed(&question.form(&pause))).await;
    assert_eq!(answer.location(), detail);
    let paused = alice.get_until(&detail, "Paused").await.body;
    assert!(paused.contains(&resume) && !paused.contains(&pause), "{paused}");
    assert!(paused.contains("A paused workshop has your saved files."), "{paused}");
    let start = alice.get("/").await.body;
    let (_, card) = start.split_once(&format!("id=\"card-{template}\"")).unwrap();
    assert!(card.contains(&resume) && !card.contains("/open"), "the card resumes the workshop: {card}");
    let launch = alice.get(&format!("/launch/{template}")).await.body;
    let (_, have) = launch.split_once("You already have this workshop:").unwrap();
    assert!(have.contains(&format!("action=\"{resume}\"")), "the own link of a template resumes it: {have}");
    for page in [&launch, &start] {
        assert!(
            !page.contains("Launch another") && !page.contains("action=\"/launch/"),
            "it would always fail: {page}"
        );
    }
    let saved = alice.get("/work").await.body;
    assert!(saved.contains(&format!("<a href=\"{detail}\">Paused</a>")), "{saved}");

    let second = alice.post(&format!("/launch/{template}"), &[]).await;
    assert_eq!(second.status, 409);
    assert!(second.body.contains(&format!("Your paused workshop {name} uses these files.")), "{}", second.body);
    assert_eq!(app.browser(BOB).post(&resume, &[]).await.status, 404);

    let form = alice.get(&detail).await.form(&resume);
    assert_eq!(alice.post(&resume, &borrowed(&form)).await.location(), format!("{detail}/wait"));
    alice.get_until(&detail, "Ready").await;
    let log = admin.get("/admin/activity").await.body;
    assert!(log.contains("alice@example.org paused ") && log.contains("alice@example.org resumed "), "{log}");
    app.finish().await;
}

#[tokio::test]
async fn workshop_without_kept_files_has_no_button_and_a_refusal_says_why() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Stones", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    let ready = alice.get_until(&detail, "Ready").await.body;
    assert!(!ready.contains("/suspend"), "{ready}");
    let refused = alice.post(&format!("{detail}/suspend"), &[]).await;
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("Its files are not kept. End it instead."), "{}", refused.body);
    app.finish().await;
}

#[tokio::test]
async fn expired_workshop_is_paused_and_the_admin_of_the_class_sees_it() {
    let app = App::start().await;
    let expiring = |template: &mut Value| {
        kept(template);
        template["storage"]["at_expiry"] = json!("suspend");
    };
    let template = app.template("Penguins", expiring).await;
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    let edit = admin.get(&format!("/admin/templates/{template}/edit")).await;
    let form = edit.form(&format!("/admin/templates/{template}"));
    let chosen = form.iter().find(|(name, _)| name == "storage_at_expiry").map(|(_, value)| value.as_str());
    assert_eq!(chosen, Some("suspend"));

    let name = alice.launch(&template).await;
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    app.test.fleet.expire(&name);
    alice.get_until(&format!("/instances/{name}"), "Paused").await;
    let class = admin.get(&format!("/admin/templates/{template}/workshops")).await.body;
    assert!(class.contains("Paused"), "{class}");
    let log = admin.get("/admin/activity").await.body;
    assert!(log.contains("was paused, because its time was up."), "{log}");
    app.finish().await;
}
