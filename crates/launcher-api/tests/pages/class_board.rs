//! The board of a class: search, event stream, actions on all workshops, projector view and attendance.

use std::time::Duration;

use futures_util::future::join;
use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use launcher_domain::{ClassRole, EmailAddress, MaterialOutcome, MaterialReport, SourceReport};
use launcher_service::MemberDraft;
use launcher_testkit::eventually;
use serde_json::json;

use crate::classes::{TEACHER, add, class};
use crate::support::{ALICE, Answer, App, BOB, Browser, row_actions, unescape};

const ASSISTANT: &str = "assistant@example.org";

/// Adds members with names.
async fn name(app: &App, room: &str, people: &[(&str, &str)]) {
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let draft = |(email, name): &(&str, &str)| MemberDraft {
        email: EmailAddress::parse(email).unwrap(),
        role: ClassRole::Student,
        name: (*name).to_owned(),
    };
    app.test.launcher.set_members(&access, people.iter().map(draft).collect()).await.unwrap();
}

/// Returns the members on the board, from top to bottom.
fn members(page: &str) -> Vec<String> {
    let rows = page.split("<th scope=\"row\"><bdi>").skip(1);
    rows.map(|row| unescape(row.split('<').next().unwrap())).collect()
}

/// Returns the numbers on the tiles.
fn numbers(page: &str) -> Vec<u64> {
    let numbers = page.split("class=\"figure\">").skip(1);
    numbers.map(|part| part.split('<').next().unwrap().parse().unwrap()).collect()
}

/// Launches a ready workshop. Returns its name.
async fn ready(browser: &Browser, template: &str) -> String {
    let name = browser.launch(template).await;
    browser.get_until(&format!("/instances/{name}"), "state-running").await;
    name
}

#[tokio::test]
async fn board_is_searched_by_name_and_address_and_filtered_by_standing() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    name(&app, &room, &[(ALICE, "Ada Lovelace"), (BOB, "Bob Brown")]).await;
    ready(&alice, &template).await;
    for (query, found) in [
        ("", vec!["Bob Brown", "Ada Lovelace", TEACHER]),
        ("?q=ADA+love", vec!["Ada Lovelace"]),
        ("?q=bob%40", vec!["Bob Brown"]),
        ("?standing=absent", vec!["Bob Brown"]),
        ("?q=ada&standing=absent", vec![]),
        ("?standing=unknown", vec!["Bob Brown", "Ada Lovelace", TEACHER]),
    ] {
        for path in [format!("{room}{query}"), format!("{room}/board{query}")] {
            let page = teacher.get(&path).await;
            assert_eq!(members(&page.body), found, "{path}");
            assert_eq!(numbers(&page.body), [0, 1, 0, 1], "the numbers are those of the class");
        }
    }
    let page = teacher.get(&format!("{room}?q=%3Cada")).await.body;
    assert!(page.contains("name=\"q\" value=\"&#60;ada\""), "the search stays in its field: {page}");
    let part = teacher.get(&format!("{room}/board")).await.body;
    assert!(!part.contains("<html"), "only the board");
    app.finish().await;
}

#[tokio::test]
async fn member_without_workshop_was_here_after_the_first_one() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    assert!(teacher.get(&room).await.body.contains("Not here</td>"));
    let name = ready(&alice, &template).await;
    alice.post(&format!("/instances/{name}/end"), &[]).await;
    let page = teacher.get_until(&format!("{room}/board?standing=joined"), "Was here until").await;
    assert_eq!(members(&page.body), [ALICE]);
    app.finish().await;
}

#[tokio::test]
async fn event_stream_of_a_board_ends_with_the_membership() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let (teacher, assistant) = (app.browser(TEACHER), app.browser(ASSISTANT));
    add(&teacher, &room, ASSISTANT, "assistant").await;
    let remove = format!("{room}/members/{}/remove", ASSISTANT.replace('@', "%40"));
    let stream = assistant.request(Method::GET, &format!("{room}/events")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let (events, removed) = join(stream.text(), teacher.post(&remove, &[])).await;
    assert_eq!(removed.location(), room);
    let events = events.unwrap();
    assert!(events.contains("event: class-changed\ndata: changed\n\n"), "{events}");
    assert!(!events.contains('@'), "the stream names no person: {events}");
    assert_eq!(assistant.get(&format!("{room}/board")).await.status, StatusCode::NOT_FOUND);
    app.finish().await;
}

#[tokio::test]
async fn trouble_with_course_material_is_counted_marked_and_above_ready_members() {
    const MARK: &str = "<strong class=\"error\">";
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    ready(&alice, &template).await;
    let his = ready(&bob, &template).await;
    let board = format!("{room}/board");
    let before = teacher.get(&board).await.body;
    assert_eq!(
        (members(&before), numbers(&before)),
        (vec![ALICE.into(), BOB.into(), TEACHER.into()], vec![0, 0, 0, 2])
    );
    assert!(!before.contains(MARK), "{before}");

    let failed = SourceReport::failed("data", "The server does not answer.");
    let conflicts = SourceReport { outcome: MaterialOutcome::Updated, conflict_count: 2, ..failed.clone() };
    for (source, mark) in [(failed, "Not loaded"), (conflicts, "Conflicts")] {
        app.test.fleet.report_material(&his, MaterialReport { sources: vec![source] });
        let page = teacher.get_until(&board, &format!("{MARK}{mark}</strong>")).await.body;
        assert_eq!(members(&page), [BOB, ALICE, TEACHER]);
        assert_eq!(numbers(&page), [0, 1, 0, 0, 1]);
        assert!(page.contains("Trouble with course material</span>"), "{page}");
        assert!(row_actions(&page, BOB).0.contains(mark) && page.matches(MARK).count() == 1, "{page}");
        assert_eq!(members(&teacher.get(&format!("{board}?standing=trouble")).await.body), [BOB]);
    }
    app.finish().await;
}

#[tokio::test]
async fn row_of_the_board_has_one_visible_action_and_a_menu() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    let name = ready(&alice, &template).await;
    let page = teacher.get(&format!("{room}/board")).await.body;
    for (row, visible, menu) in [
        (ALICE, vec!["/extend\""], vec!["/end\"", "/edit\"", "/remove\""]),
        (BOB, vec![], vec!["/edit\"", "/remove\""]),
    ] {
        let (shown, hidden) = row_actions(&page, row);
        assert_eq!(shown.matches(&format!("{room}/")).count(), visible.len(), "{shown}");
        assert!(visible.iter().all(|action| shown.contains(action)), "{shown}");
        assert_eq!(hidden.matches(&format!("{room}/")).count(), menu.len(), "{hidden}");
        assert!(menu.iter().all(|action| hidden.contains(action)), "{hidden}");
    }
    assert!(row_actions(&page, ALICE).1.contains(&format!("/instances/{name}/end\"")), "{page}");
    app.finish().await;
}

#[tokio::test]
async fn action_on_no_workshop_is_not_asked_for() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    for action in ["launch", "extend", "end"] {
        let ask = app.browser(TEACHER).get(&format!("{room}/{action}")).await;
        assert!(
            ask.body.contains("There is nothing to do.") && !ask.body.contains("<form class=\"stack\""),
            "{action}"
        );
    }
    app.finish().await;
}

/// Returns the cells of the report, row by row.
fn report(page: &Answer) -> Vec<(String, String)> {
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let text = |cell: &str| {
        let parts = cell.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        unescape(parts.collect::<String>().trim())
    };
    let rows = page.body.split("<tr><th scope=\"row\">").skip(1);
    let row = |row: &str| {
        let cells: Vec<_> = row.split("</tr>").next().unwrap().split("<td>").map(text).collect();
        (cells[0].clone(), cells[2].clone())
    };
    rows.map(row).collect()
}

#[tokio::test]
async fn teacher_launches_extends_and_ends_all_workshops_with_a_report() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    let own = ready(&alice, &template).await;
    let (launch, extend, end) = (format!("{room}/launch"), format!("{room}/extend"), format!("{room}/end"));
    assert!(teacher.get(&room).await.body.contains(&format!("href=\"{launch}\"")));

    let ask = teacher.get(&launch).await;
    assert!(ask.body.contains("each of the 2 students"), "{}", ask.body);
    let fields: &[(&str, &str)] = &[("template_id", &template)];
    let row = |who: &str, what: &str| (who.to_owned(), what.to_owned());
    let launched = report(&teacher.post(&launch, fields).await);
    assert_eq!(launched, [row(ALICE, "Already has this workshop"), row(BOB, "Launched")]);
    let again = report(&teacher.post(&launch, fields).await);
    assert!(again.iter().all(|(_, what)| what == "Already has this workshop"), "a form that is sent twice: {again:?}");
    let page = bob.get_until("/", "state-running").await;
    assert!(page.body.contains("Exercise 1"), "the student owns it");

    let ask = teacher.get(&extend).await;
    let time = ask.body.split("<option value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(ask.body.contains("the 2 ready workshops"), "{}", ask.body);
    let extended = teacher.post(&extend, &[("until", &time)]).await;
    assert!(!extended.body.contains(&format!("/instances/{own}\"")), "a teacher opens no workshop of a student");
    assert!(report(&extended).iter().all(|(_, what)| what.starts_with("Extended until")), "{}", extended.body);
    let far = teacher.post(&extend, &[("until", "2100-01-01T00:00:00Z")]).await;
    let beyond = far.form(&extend);
    assert!(beyond.contains(&("beyond_maximum".to_owned(), "yes".to_owned())), "{beyond:?}");

    let assistant = app.browser(ASSISTANT);
    add(&teacher, &room, ASSISTANT, "assistant").await;
    let page = assistant.get(&room).await.body;
    assert!(page.contains(&format!("href=\"{extend}\"")) && !page.contains(&format!("href=\"{end}\"")), "{page}");
    let far = assistant.post(&extend, &[("until", "2100-01-01T00:00:00Z")]).await;
    assert!(!far.body.contains("beyond_maximum"), "{}", far.body);
    let beyond = assistant.post(&extend, &[("until", "2100-01-01T00:00:00Z"), ("beyond_maximum", "yes")]).await;
    assert_eq!(beyond.status, StatusCode::FORBIDDEN);

    assert!(teacher.get(&end).await.body.contains("End all 2 workshops of the class?"));
    let ended = report(&teacher.post(&end, &[]).await);
    assert_eq!(ended, [row(ALICE, "Ended"), row(BOB, "Ended")]);
    let board = format!("{room}/board");
    eventually(async || (teacher.get(&board).await.body.matches("Was here until").count() == 2).then_some(())).await;
    let nothing = teacher.post(&end, &[]).await;
    assert!(nothing.body.contains("There was nothing to do."), "{}", nothing.body);
    app.finish().await;
}

/// Adds a template to the class whose workshops keep their files. Returns its id.
async fn kept(app: &App, room: &str) -> String {
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let body = json!({ "name": "Kept", "app_type": "notebook", "image": "x", "storage": { "kind": "kept" } });
    let template = app.test.launcher.create_template(&access, body.as_object().unwrap()).await.unwrap();
    template.template_id.to_string()
}

#[tokio::test]
async fn question_before_an_end_in_a_class_says_what_happens_to_the_files() {
    const KEPT: &str = "The files are kept when the workshop ends";
    const DELETED: &str = "The files in a workshop are deleted when it ends.";
    let app = App::start().await;
    let (room, plain) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    ready(&alice, &kept(&app, &room).await).await;
    let his = ready(&bob, &plain).await;

    let all = teacher.get(&format!("{room}/end")).await.body;
    for files in [KEPT, DELETED] {
        assert!(all.contains(&format!("<p>1 workshop: {files}")), "{all}");
    }
    for (email, files, other) in [(ALICE, KEPT, DELETED), (BOB, DELETED, KEPT)] {
        let remove = format!("{room}/members/{}/remove", email.replace('@', "%40"));
        let question = teacher.get(&remove).await.body;
        assert!(question.contains(files) && !question.contains(other), "{question}");
    }
    let end = format!("{room}/instances/{his}/end");
    let question = teacher.get(&end).await.body;
    assert!(question.contains(&format!("The workshop stops. {DELETED}")), "{question}");
    teacher.post(&end, &[]).await;
    assert_eq!(teacher.get(&end).await.location(), room, "it ends already");
    let rest = teacher.get(&format!("{room}/end")).await.body;
    assert!(rest.contains(&format!("<p>{KEPT}")) && !rest.contains(DELETED), "{rest}");
    app.finish().await;
}

#[tokio::test]
async fn pause_of_all_workshops_names_those_without_kept_files() {
    let app = App::start().await;
    let (room, plain) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    let pause = format!("{room}/pause");
    assert!(!teacher.get(&room).await.body.contains(&pause), "no template keeps files");
    ready(&alice, &kept(&app, &room).await).await;
    ready(&bob, &plain).await;
    assert!(teacher.get(&room).await.body.contains(&pause));
    let paused = report(&teacher.post(&pause, &[]).await);
    assert_eq!(paused[1], (ALICE.to_owned(), "Paused".to_owned()));
    assert!(paused[0].0 == BOB && paused[0].1.starts_with("Not done:"), "refusals first: {paused:?}");
    app.finish().await;
}

#[tokio::test]
async fn launch_that_needs_values_is_refused_in_the_room() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    let teacher = app.browser(TEACHER);
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let parameters = json!([{ "name": "KEY", "label": "Key", "kind": "text", "required": true }]);
    let body = json!({ "name": "Asks", "app_type": "notebook", "image": "x", "parameters": parameters });
    let asks = app.test.launcher.create_template(&access, body.as_object().unwrap()).await.unwrap();
    let refused = teacher.post(&format!("{room}/launch"), &[("template_id", &asks.template_id.to_string())]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("which only the student knows"), "{}", refused.body);
    app.finish().await;
}

#[tokio::test]
async fn projector_view_has_numbers_without_people() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    name(&app, &room, &[(ALICE, "Ada Lovelace"), (BOB, "Bob Brown")]).await;
    ready(&alice, &template).await;
    let page = teacher.get(&format!("{room}/projector")).await.body;
    assert_eq!(numbers(&page), [0, 1, 0, 1]);
    for person in ["Ada", "Brown", "@"] {
        assert!(!page.contains(person), "{person}: {page}");
    }
    app.finish().await;
}

#[tokio::test]
async fn last_use_of_an_app_is_on_the_board_and_in_the_attendance() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    let name = ready(&alice, &template).await;
    let path = format!("/_launcher/class/{name}/use");
    assert!(!teacher.get(&room).await.body.contains("last used"));
    let report = async |browser: &Browser| browser.request(Method::PUT, &path).send().await.unwrap().status();
    assert_eq!(report(&teacher).await, StatusCode::NOT_FOUND, "only the owner uses the app");
    let used = async || {
        let page = teacher.get(&format!("{room}/board")).await.body;
        let time = page.split("last used <time datetime=\"").nth(1).unwrap();
        time.split('"').next().unwrap().to_owned()
    };
    assert_eq!(report(&alice).await, StatusCode::NO_CONTENT);
    let first = used().await;
    app.test.clock.advance(Duration::from_secs(20));
    assert_eq!(report(&alice).await, StatusCode::NO_CONTENT);
    assert_eq!(used().await, first, "one write in 30 seconds");
    app.test.clock.advance(Duration::from_secs(20));
    assert_eq!(report(&alice).await, StatusCode::NO_CONTENT);
    let second = used().await;
    assert!(second > first, "{first} {second}");
    app.test.clock.advance(Duration::from_secs(600));
    let attendance = teacher.get(&format!("{room}/attendance.csv")).await.body;
    let last = attendance.lines().find(|line| line.starts_with(ALICE)).unwrap().split(',').nth(5).unwrap();
    assert!(last.starts_with(&second[..19]), "{last} {second}");
    app.finish().await;
}

#[tokio::test]
async fn last_activity_without_a_report_is_now_until_the_workshop_ends_and_its_end_afterwards() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    let name = ready(&alice, &template).await;
    let last = async || -> Timestamp {
        let table = teacher.get(&format!("{room}/attendance.csv")).await.body;
        let row = table.lines().find(|line| line.starts_with(ALICE)).unwrap();
        row.split(',').nth(5).unwrap().parse().unwrap()
    };
    let first = last().await;
    app.test.clock.advance(Duration::from_secs(600));
    let second = last().await;
    assert!(second.duration_since(first) >= SignedDuration::from_secs(600), "{first} {second}");

    alice.post(&format!("/instances/{name}/end"), &[]).await;
    teacher.get_until(&format!("{room}/board"), "Was here until").await;
    let end = last().await;
    assert!(end > second, "{end} {second}");
    app.test.clock.advance(Duration::from_secs(600));
    assert_eq!(last().await, end);
    app.finish().await;
}

#[tokio::test]
async fn attendance_is_a_table_without_formulas() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    name(&app, &room, &[(ALICE, "=HYPERLINK(\"x\"),1"), ("+bob@example.org", "@Bob"), (BOB, "")]).await;
    ready(&alice, &template).await;
    let answer = teacher.get(&format!("{room}/attendance.csv")).await;
    assert_eq!(answer.header("content-type"), "text/csv");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"statistics-101-attendance.csv\"");
    let mut lines = answer.body.lines();
    assert_eq!(lines.next(), Some("\u{feff}email,name,role,joined,first_launch,last_activity,workshops"));
    let lines: Vec<_> = lines.collect();
    assert!(lines[0].starts_with("'+bob@example.org,'@Bob,student,") && lines[0].ends_with(",,,0"), "{lines:?}");
    assert!(lines[1].starts_with("alice@example.org,\"'=HYPERLINK(\"\"x\"\"),1\",student,2"), "{lines:?}");
    assert!(lines[1].ends_with(",1"), "{lines:?}");
    assert_eq!((lines.len(), &lines[3][..TEACHER.len()]), (4, TEACHER));
    app.finish().await;
}
