//! `GET /templates/` and `GET /templates/{template_id}`.

use launcher_testkit::{Client, TestApp};
use serde_json::Value;

async fn ids(person: &Client, query: &str) -> Vec<String> {
    let list = person.get(&format!("/templates/{query}")).await.expect(200).json();
    let id = |template: &Value| template["template_id"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn users_list_active_templates_and_admins_all_and_everybody_reads_each() {
    let (app, _, alice, _, admin) = TestApp::start().await;
    let (active, archived) = (app.template(&admin).await, app.template(&admin).await);
    admin.delete(&format!("/templates/{archived}")).await.expect(204);
    assert_eq!(ids(&alice, "").await, std::slice::from_ref(&active));
    assert_eq!(ids(&admin, "").await, [archived.clone(), active.clone()]);
    assert_eq!(alice.get(&format!("/templates/{archived}")).await.expect(200).json()["active"], false);
    assert_eq!(alice.get(&format!("/templates/{active}")).await.expect(200).json()["active"], true);
    app.finish().await;
}

#[tokio::test]
async fn pages_are_linked() {
    let (app, _, alice, _, admin) = TestApp::start().await;
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
