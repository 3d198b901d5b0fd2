//! `/classes/{class}/`: hands of members, and the message of a teacher to all.

use http::Method;
use launcher_testkit::{Client, EventStream, Reply, TestApp, Users, in_time};
use serde_json::{Value, json};

use crate::assert_documented;

const TEACHER: &str = "teacher@example.org";
const CLASS: &str = "/classes/statistics";

async fn put(person: &Client, path: &str) -> Reply {
    Reply::of(person.request(Method::PUT, &person.api(path))).await
}

/// Creates a class with Alice and Bob as students. Returns its teacher.
async fn class(admin: &Client) -> Client {
    admin.post_json("/classes/", &json!({ "name": "Statistics", "teachers": [TEACHER] })).await.expect(201);
    for (who, role) in [("alice@example.org", "student"), ("bob@example.org", "student")] {
        admin.put_json(&format!("{CLASS}/members/{who}"), &json!({ "role": role })).await.expect(200);
    }
    let name = json!({ "role": "teacher", "name": "Tina Teacher" });
    admin.put_json(&format!("{CLASS}/members/{TEACHER}"), &name).await.expect(200);
    admin.as_identity(Some(TEACHER))
}

async fn until(news: &mut EventStream, wanted: impl Fn(&Value) -> bool) -> Value {
    in_time(async {
        loop {
            let event = news.next().await.expect("the stream goes on");
            assert_eq!(event.event, "news");
            if wanted(&event.data) {
                return event.data;
            }
        }
    })
    .await
}

#[tokio::test]
async fn student_sees_that_help_comes_and_a_message_to_all() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let teacher = class(&admin).await;
    let mut news = alice.stream(&format!("{CLASS}/news/events")).await;
    assert_eq!((news.status.as_u16(), &news.headers["cache-control"]), (200, &"no-store".parse().unwrap()));
    let first = until(&mut news, |_| true).await;
    assert_eq!(first, json!({ "message": null, "hand": null, "may_raise": true }));
    assert_documented(&first, "NewsResponse");

    let raised = put(&alice, &format!("{CLASS}/hand")).await.expect(200).json();
    assert_documented(&raised, "HandResponse");
    assert_eq!((&raised["email"], &raised["taken_by"]), (&json!("alice@example.org"), &Value::Null));
    assert_eq!(put(&alice, &format!("{CLASS}/hand")).await.json(), raised, "raised once");
    assert_eq!(until(&mut news, |news| news["hand"] != Value::Null).await["hand"], raised);
    assert_eq!(teacher.get(&format!("{CLASS}/hands/")).await.json(), json!([raised]));
    assert_eq!(bob.get(&format!("{CLASS}/news")).await.json()["hand"], Value::Null, "the hand of another student");

    let taken = put(&teacher, &format!("{CLASS}/hands/alice@example.org")).await.expect(200).json();
    assert_eq!(taken["taken_by"], "Tina Teacher");
    assert_eq!(until(&mut news, |news| news["hand"]["taken_by"] != Value::Null).await["hand"], taken);
    teacher.delete(&format!("{CLASS}/hands/alice@example.org")).await.expect(204);
    until(&mut news, |news| news["hand"] == Value::Null).await;
    put(&teacher, &format!("{CLASS}/hands/alice@example.org")).await.expect(404);

    let text = json!({ "text": " <b>Exercise 2</b>\nbegins " });
    let sent = teacher.put_json(&format!("{CLASS}/message"), &text).await.expect(200).json();
    assert_documented(&sent, "MessageResponse");
    assert_eq!(sent["text"], "<b>Exercise 2</b>\nbegins");
    assert_eq!(until(&mut news, |news| news["message"] != Value::Null).await["message"], sent);
    for refused in [json!({ "text": "" }), json!({ "text": "x".repeat(501) }), json!({})] {
        teacher.put_json(&format!("{CLASS}/message"), &refused).await.expect(422);
    }
    alice.put_json(&format!("{CLASS}/message"), &text).await.expect(403);
    teacher.delete(&format!("{CLASS}/message")).await.expect(204);
    until(&mut news, |news| news["message"] == Value::Null).await;
    assert_eq!(teacher.get(&format!("{CLASS}/news")).await.json()["may_raise"], false);
    drop(news);
    app.finish().await;
}

#[tokio::test]
async fn longest_message_fits_into_the_body() {
    let Users { app, admin, .. } = TestApp::start().await;
    let teacher = class(&admin).await;
    // Twelve bytes for each character.
    let body = format!("{{\"text\": \"{}\"}}", "\\ud83d\\ude00".repeat(500));
    let request = teacher.request(Method::PUT, &teacher.api(&format!("{CLASS}/message")));
    let sent = Reply::of(request.header("content-type", "application/json").body(body)).await.expect(200).json();
    assert_eq!(sent["text"].as_str().unwrap().chars().count(), 500);
    app.finish().await;
}

#[tokio::test]
async fn news_of_a_removed_member_end_and_are_hidden() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let teacher = class(&admin).await;
    put(&alice, &format!("{CLASS}/hand")).await.expect(200);
    let mut news = alice.stream(&format!("{CLASS}/news/events")).await;
    until(&mut news, |_| true).await;
    teacher.delete(&format!("{CLASS}/members/alice@example.org")).await.expect(204);
    in_time(async { while news.next().await.is_some() {} }).await;
    assert_eq!(teacher.get(&format!("{CLASS}/hands/")).await.json(), json!([]));
    let missing = alice.get("/classes/nothing-here/news").await.expect(404).code();
    for path in ["news", "news/events"] {
        assert_eq!(alice.get(&format!("{CLASS}/{path}")).await.expect(404).code(), missing);
    }
    put(&alice, &format!("{CLASS}/hand")).await.expect(404);
    app.finish().await;
}
