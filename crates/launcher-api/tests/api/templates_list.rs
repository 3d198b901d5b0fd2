//! `GET /templates/` and `GET /templates/{template_id}`.

use launcher_testkit::{Client, TestApp, Users};
use serde_json::{Value, json};

async fn ids(person: &Client, query: &str) -> Vec<String> {
    let list = person.get(&format!("/templates/{query}")).await.expect(200).json();
    let id = |template: &Value| template["template_id"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn archived_template_is_listed_for_admins_and_readable_by_all() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let (active, archived) = (app.template(&admin).await, app.template(&admin).await);
    admin.delete(&format!("/templates/{archived}")).await.expect(204);
    assert_eq!(ids(&alice, "").await, std::slice::from_ref(&active));
    assert_eq!(ids(&admin, "").await, [archived.clone(), active.clone()]);
    assert_eq!(alice.get(&format!("/templates/{archived}")).await.expect(200).json()["active"], false);
    assert_eq!(alice.get(&format!("/templates/{active}")).await.expect(200).json()["active"], true);
    app.finish().await;
}

#[tokio::test]
async fn template_list_links_next_page() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(app.template(&admin).await);
    }
    all.reverse();
    let page = alice.get("/templates?limit=2").await.expect(200);
    let next = page.header("link").strip_prefix("</api/v1/templates/").unwrap();
    let next = next.strip_suffix(">; rel=\"next\"").unwrap();
    assert_eq!(ids(&alice, "?limit=2").await, all[..2]);
    assert_eq!(ids(&alice, next).await, all[2..]);
    assert_eq!(alice.get(&format!("/templates/{next}")).await.header("link"), "");
    app.finish().await;
}

#[tokio::test]
async fn template_command_args_and_env_are_admin_only() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = json!({
        "name": "T", "app_type": "custom", "image": "example.org/i", "port": 80,
        "command": ["start"], "args": ["--key=swordfish"], "env": { "KEY": "swordfish" },
        "pod_template": { "spec": { "nodeSelector": { "disk": "swordfish" } } },
    });
    let created = admin.post_json("/templates/", &template).await.expect(201).json();
    let one = format!("/templates/{}", created["template_id"].as_str().unwrap());
    for whole in [admin.get(&one).await.json(), admin.get("/templates/").await.json()[0].clone()] {
        assert_eq!(whole, created);
    }
    let mut shown = created;
    (shown["command"], shown["args"], shown["env"]) = (json!([]), json!([]), json!({}));
    shown["pod_template"] = json!(null);
    for part in [alice.get(&one).await.json(), alice.get("/templates/").await.json()[0].clone()] {
        assert_eq!(part, shown, "all other fields stay, created_by among them");
    }
    let launched = alice.post(&format!("{one}/launch")).await.expect(201).text();
    let page = alice.page(&one.replace("/templates/", "/launch/")).await.expect(200).text();
    assert!(!launched.contains("swordfish") && !page.contains("swordfish"));
    app.finish().await;
}

#[tokio::test]
async fn unlisted_template_is_listed_for_admins_and_readable_and_launchable_by_all() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let body = json!({ "name": "Exam", "app_type": "notebook", "image": "example.org/i", "unlisted": true });
    let unlisted = admin.post_json("/templates/", &body).await.expect(201).json()["template_id"].clone();
    let unlisted = unlisted.as_str().unwrap();
    let listed = [app.template(&admin).await, app.template(&admin).await];
    assert_eq!(ids(&alice, "").await, [listed[1].clone(), listed[0].clone()]);
    assert_eq!(ids(&admin, "").await, [listed[1].clone(), listed[0].clone(), unlisted.to_owned()]);
    // The page that would end before the unlisted template is the last one.
    assert_eq!(alice.get("/templates/?limit=2").await.expect(200).header("link"), "");
    assert_ne!(admin.get("/templates/?limit=2").await.expect(200).header("link"), "");
    assert_eq!(alice.get(&format!("/templates/{unlisted}")).await.expect(200).json()["unlisted"], true);
    alice.post(&format!("/templates/{unlisted}/launch")).await.expect(201);
    let catalog = alice.page("/").await.expect(200).text();
    assert!(!catalog.contains(&format!("/launch/{unlisted}")), "the catalog page omits it");
    app.finish().await;
}
