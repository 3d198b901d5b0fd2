//! Join links: a teacher shows the code, and people join the class with two clicks.

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::classes::{add, class};
use crate::support::{ALICE, App, BOB};

const TEACHER: &str = "teacher@example.org";

/// Returns the address of the class's join link on a teacher's page.
fn link(page: &str) -> String {
    let (_, rest) = page.split_once("/join/").unwrap();
    format!("/join/{}", &rest[..11])
}

#[tokio::test]
async fn person_joins_with_two_clicks_from_the_link_to_a_workshop() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    let form = [("valid_days", "7"), ("seats", "1"), ("domain", "example.org"), ("members_only", "")];
    let created = teacher.post(&format!("{room}/join-link"), &form).await;
    assert_eq!(created.location(), format!("{room}/projector"));
    let code_page = teacher.get(created.location()).await.body;
    let link = link(&teacher.get(&room).await.body);
    assert!(code_page.contains("class=\"qr\"") && code_page.contains(&link["/join/".len()..]), "{code_page}");

    let invitation = alice.get(&link).await;
    assert_eq!(invitation.status, StatusCode::OK);
    assert!(invitation.body.contains("Statistics 101") && invitation.body.contains(ALICE), "{}", invitation.body);
    assert_eq!(alice.get(&room).await.status, StatusCode::NOT_FOUND, "to open the link is not to join");
    let joined = alice.post(&link, &[]).await;
    assert_eq!(joined.location(), room);
    let room_page = alice.get(&room).await.body;
    assert!(room_page.contains(&format!("<form method=\"post\" action=\"/launch/{template}\">")), "{room_page}");
    let launched = alice.post(&format!("/launch/{template}"), &[]).await;
    assert!(launched.location().ends_with("/wait"), "{}", launched.location());
    assert_eq!(alice.get(&link).await.location(), room, "the link leads a member to the class");
    assert!(teacher.get(&room).await.body.contains("1 of 1 places taken"));
    app.finish().await;
}

#[tokio::test]
async fn page_explains_why_a_link_does_not_admit() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    let form = [("valid_days", "7"), ("seats", "1"), ("domain", ""), ("members_only", "")];
    teacher.post(&format!("{room}/join-link"), &form).await;
    let first = link(&teacher.get(&room).await.body);
    alice.post(&first, &[]).await;

    let full = bob.get(&first).await;
    assert_eq!(full.status, StatusCode::FORBIDDEN);
    assert!(full.body.contains("All places of this link are taken."), "{}", full.body);
    assert_eq!(bob.post(&first, &[]).await.location(), first, "the page of the link explains it");
    assert_eq!(teacher.post(&format!("{room}/join-link/revoke"), &[]).await.location(), room);
    assert!(bob.get(&first).await.body.contains("This link is no longer valid."));

    let typed = bob.get(&format!("/join?code={}", first["/join/".len()..].to_uppercase())).await;
    assert_eq!(typed.location(), first, "a typed code leads to the page of its link");
    let wrong = bob.get("/join/aaaaa-aaaaa").await;
    assert_eq!(wrong.status, StatusCode::NOT_FOUND);
    assert!(wrong.body.contains("No class has this code.") && wrong.body.contains("value=\"aaaaa-aaaaa\""));
    assert_eq!(bob.get(&room).await.status, StatusCode::NOT_FOUND);
    app.finish().await;
}

#[tokio::test]
async fn wrong_form_of_a_link_keeps_its_values() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    let form = [("valid_days", "7"), ("seats", "many"), ("domain", "exa mple")];
    let refused = teacher.post(&format!("{room}/join-link"), &form).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("value=\"many\"") && refused.body.contains("value=\"exa mple\""), "{}", refused.body);
    let (_, form_part) = refused.body.split_once("id=\"join-link\" open").unwrap();
    assert!(
        form_part.contains("Must be a whole number.") && form_part.contains("A domain of e-mail addresses"),
        "{form_part}"
    );
    add(&teacher, &room, ALICE, "student").await;
    let student = app.browser(ALICE).post(&format!("{room}/join-link"), &form).await;
    assert_eq!(student.status, StatusCode::FORBIDDEN);
    app.finish().await;
}

#[tokio::test]
async fn new_link_has_the_rules_of_its_form() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    for (days, seats, domain, is_for_members) in
        [(1_i64, json!(3), json!("example.org"), true), (30, Value::Null, Value::Null, false)]
    {
        let (days_text, seats_text) = (days.to_string(), seats.as_u64().map(|seats| seats.to_string()));
        let form = [
            ("valid_days", days_text.as_str()),
            ("seats", seats_text.as_deref().unwrap_or_default()),
            ("domain", domain.as_str().unwrap_or_default()),
            ("members_only", if is_for_members { "true" } else { "" }),
        ];
        teacher.post(&format!("{room}/join-link"), &form).await;

        let link = teacher.get(&format!("/api/v1{room}/join-link")).await.body;
        let link: Value = serde_json::from_str(&link).unwrap();
        let second = |field: &str| link[field].as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
        assert_eq!(second("expires_at") - second("created_at"), days * 86_400, "{link}");
        assert_eq!((&link["seats"], &link["domain"], &link["members_only"]), (&seats, &domain, &json!(is_for_members)));
    }
    app.finish().await;
}

#[tokio::test]
async fn person_who_tries_many_wrong_codes_learns_when_to_try_again() {
    let app = App::start().await;
    let bob = app.browser(BOB);
    for _ in 0..20 {
        assert_eq!(bob.get("/join/aaaaa-aaaaa").await.status, StatusCode::NOT_FOUND);
    }
    let refused = bob.get("/join/aaaaa-aaaaa").await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let seconds: u32 = refused.header("retry-after").parse().unwrap();
    let text = format!("You tried many wrong codes. Try again in {} minute", seconds.div_ceil(60));
    assert!(refused.body.contains(&text), "{text}: {}", refused.body);
    app.finish().await;
}
