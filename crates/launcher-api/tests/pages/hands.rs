//! Hands and messages on the page of a class, and the page that connects them to the bar of a workshop.

use http::{Method, StatusCode};
use launcher_testkit::in_time;

use crate::classes::{TEACHER, add, class};
use crate::support::{ADMIN, ALICE, Answer, App, BOB, Browser};

fn address(email: &str) -> String {
    email.replace('@', "%40")
}

async fn done(browser: &Browser, room: &str, action: &str, fields: &[(&str, &str)]) {
    assert_eq!(browser.post(&format!("{room}/{action}"), fields).await.location(), room);
}

#[tokio::test]
async fn hand_goes_up_and_down_on_the_page_of_the_class() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("Alice <{ALICE}>\n{BOB}"), "student").await;
    assert!(teacher.get(&room).await.body.contains("Raised hands: 0"));
    for student in [&bob, &alice] {
        done(student, &room, "hand", &[]).await;
        done(student, &room, "hand", &[]).await;
    }
    let page = alice.get(&room).await.body;
    assert!(page.contains("Your hand is raised."), "{page}");
    let page = teacher.get(&format!("{room}/news")).await.body;
    let place = |who: &str| page.find(&format!("id=\"hand-of-{who}\"")).unwrap();
    assert!(page.contains("Raised hands: 2") && place(BOB) < place(ALICE), "the oldest first: {page}");
    assert!(!page.contains("action=\"/classes/statistics-101/hand\""), "a teacher has no hand: {page}");

    let hers = format!("hands/{}", address(ALICE));
    assert_eq!(bob.post(&format!("{room}/{hers}/take"), &[]).await.status, StatusCode::FORBIDDEN);
    done(&teacher, &room, &format!("{hers}/take"), &[]).await;
    let page = alice.get(&format!("{room}/news")).await.body;
    assert!(page.contains(&format!("{TEACHER} comes to help you.")), "{page}");
    assert!(!page.contains(BOB), "the hand of another student: {page}");
    done(&teacher, &room, &format!("{hers}/lower"), &[]).await;
    assert!(alice.get(&room).await.body.contains("Your teacher sees that you need help."));
    done(&bob, &room, "hand/lower", &[]).await;
    // The student was faster.
    done(&teacher, &room, &format!("hands/{}/take", address(BOB)), &[]).await;
    assert!(teacher.get(&room).await.body.contains("Raised hands: 0"));
    app.finish().await;
}

#[tokio::test]
async fn message_is_shown_to_all_members_as_text() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, ALICE, "student").await;
    let empty = teacher.post(&format!("{room}/message"), &[("text", " ")]).await;
    assert_eq!(empty.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(empty.body.contains("1 to 500 characters"), "{}", empty.body);
    done(&teacher, &room, "message", &[("text", "<b>Exercise 2</b>\r\nbegins")]).await;
    let name = alice.launch(&template).await;
    let text = "&#60;b&#62;Exercise 2&#60;/b&#62;\nbegins";
    for path in [room.clone(), "/".to_owned(), format!("/instances/{name}/wait")] {
        let page = alice.get(&path).await.body;
        assert!(page.contains(text) && !page.contains("<b>Exercise"), "{path}: {page}");
    }
    assert!(!bob.get("/").await.body.contains("Exercise 2"));
    assert_eq!(alice.post(&format!("{room}/message"), &[("text", "x")]).await.status, StatusCode::FORBIDDEN);
    let log = app.browser(ADMIN).get("/admin/activity").await.body;
    assert!(log.contains("sent a message to the class") && !log.contains("Exercise 2"), "{log}");
    done(&teacher, &room, "message/remove", &[]).await;
    assert!(!alice.get(&room).await.body.contains("Exercise 2"));
    app.finish().await;
}

#[tokio::test]
async fn bar_of_a_workshop_has_the_news_of_its_class_for_the_owner_only() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let shared = app.template("Anatomy", |_| ()).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    let name = alice.launch(&template).await;
    let other = alice.launch(&shared).await;
    let host = format!("{name}.workshops.example.net:8080");
    let origin = format!("https://{host}");
    let ask = async |who: &Browser, method: Method, what: &str, lines: &[(&str, &str)]| {
        let request = who.request(method, &format!("/_launcher/class/{name}/{what}"));
        Answer::of(lines.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    };
    let here = [("host", host.as_str()), ("origin", &origin), ("sec-fetch-site", "same-origin")];
    let raised = ask(&alice, Method::PUT, "hand", &here).await;
    assert_eq!(raised.status, StatusCode::NO_CONTENT, "{}", raised.body);
    let news = ask(&alice, Method::GET, "news", &here).await;
    assert!(news.body.contains("\"email\":\"alice@example.org\""), "{}", news.body);
    assert!(teacher.get(&room).await.body.contains("Raised hands: 1"));

    // Another workshop of the same owner, another site, and another host of the launcher.
    let sibling = "https://other-abcdefghij.workshops.example.net:8080";
    for lines in [
        &[("host", host.as_str()), ("origin", sibling), ("sec-fetch-site", "same-site")][..],
        &[("host", &host), ("origin", "https://evil.example")],
    ] {
        assert_eq!(ask(&alice, Method::DELETE, "hand", lines).await.status, StatusCode::FORBIDDEN, "{lines:?}");
    }
    for wrong in ["workshops.example.net", "other-abcdefghij.workshops.example.net", &format!("x{host}")] {
        let refused = ask(&alice, Method::GET, "news", &[("host", wrong)]).await;
        assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{wrong}");
    }
    let page = Answer::of(alice.request(Method::GET, "/").header("host", &host)).await;
    assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST, "no page of the launcher on this origin");

    for who in [&bob, &teacher, &app.browser(ADMIN)] {
        for (method, what) in [(Method::GET, "news"), (Method::GET, "events"), (Method::PUT, "hand")] {
            assert_eq!(ask(who, method, what, &here).await.status, StatusCode::NOT_FOUND);
        }
    }
    let without_class = format!("/_launcher/class/{other}/news");
    assert_eq!(alice.get(&without_class).await.status, StatusCode::NOT_FOUND);
    assert_eq!(ask(&alice, Method::DELETE, "hand", &here).await.status, StatusCode::NO_CONTENT);
    assert!(teacher.get(&room).await.body.contains("Raised hands: 0"));
    teacher.post(&format!("{room}/members/{}/remove", address(ALICE)), &[]).await;
    assert_eq!(ask(&alice, Method::GET, "news", &here).await.status, StatusCode::NOT_FOUND, "a former member");
    app.finish().await;
}

#[tokio::test]
async fn page_of_the_class_is_told_of_changes() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    let events = alice.request(Method::GET, &format!("{room}/events")).send().await.unwrap();
    done(&alice, &room, "hand", &[]).await;
    let mut events = events;
    in_time(async {
        let mut told = String::new();
        // The first event comes at once, the second one after the change.
        while told.matches("event: class-changed").count() < 2 {
            told.push_str(&String::from_utf8_lossy(&events.chunk().await.unwrap().unwrap()));
        }
    })
    .await;
    drop(events);
    let hidden = Answer::of(app.browser(BOB).request(Method::GET, &format!("{room}/events"))).await;
    assert_eq!(hidden.status, StatusCode::NOT_FOUND);
    app.finish().await;
}
