//! Classes: the list, the room of a class with its members, and the catalog of a member.

use http::StatusCode;
use launcher_domain::FailureCode;
use launcher_service::NewClass;
use launcher_testkit::{Options, eventually};
use serde_json::json;

use crate::support::{ADMIN, ALICE, App, BOB, Browser, borrowed, with};

pub(crate) const TEACHER: &str = "teacher@example.org";

/// Creates a class by its form, with a template. Returns the path of its room and the id of the template.
pub(crate) async fn class(app: &App) -> (String, String) {
    let admin = app.browser(ADMIN);
    let made = admin.post("/classes", &[("name", "Statistics 101"), ("teachers", TEACHER)]).await;
    let room = made.location().to_owned();
    let access = app.test.launcher.class(&app.admin(), room.strip_prefix("/classes/").unwrap()).await.unwrap();
    let body = json!({ "name": "Exercise 1", "app_type": "notebook", "image": "example.org/image" });
    let template = app.test.launcher.create_template(&access, body.as_object().unwrap()).await.unwrap();
    (room, template.template_id.to_string())
}

pub(crate) async fn add(teacher: &Browser, room: &str, addresses: &str, role: &str) {
    let preview = teacher.post(&format!("{room}/members"), &[("addresses", addresses), ("role", role)]).await;
    let action = format!("{room}/members/apply");
    assert_eq!(teacher.post(&action, &borrowed(&preview.form(&action))).await.location(), room);
}

/// Returns the names of the workshops on the board, from top to bottom.
fn rows(page: &str) -> Vec<&str> {
    page.split("id=\"row-").skip(1).map(|row| row.split('"').next().unwrap()).collect()
}

#[tokio::test]
async fn member_finds_templates_of_the_class_first_and_others_find_nothing() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    app.template("Anatomy", |_| ()).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("Alice <{ALICE}>"), "student").await;

    let home = alice.get("/").await.body;
    let place = |text: &str| home.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("Exercise 1") < place("Anatomy"), "the class comes first");
    assert!(home.contains(&format!("<a href=\"{room}\"><bdi>Statistics 101</bdi></a>")));
    assert_eq!(alice.get(&room).await.status, StatusCode::OK);
    let name = alice.launch(&template).await;
    assert!(alice.get("/").await.body.contains(&name));

    let home = bob.get("/").await.body;
    assert!(!home.contains("Exercise 1") && !home.contains("Statistics 101") && home.contains("Anatomy"));
    let missing = bob.get("/classes/nothing-here").await;
    for path in [room.clone(), format!("/launch/{template}")] {
        let hidden = bob.get(&path).await;
        assert_eq!(hidden.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(hidden.body, missing.body, "{path}: as if it did not exist");
    }
    let admin = app.browser(ADMIN).get("/").await.body;
    assert!(!admin.contains("Exercise 1"), "an admin without a role has the shared catalog only");
    app.finish().await;
}

#[tokio::test]
async fn board_shows_members_who_need_help_first() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, &format!("{ALICE}\n{BOB}"), "student").await;
    let ready = alice.launch(&template).await;
    let failed = bob.launch(&template).await;
    alice.get_until(&format!("/instances/{ready}"), "state-running").await;
    bob.get_until(&format!("/instances/{failed}"), "state-running").await;
    app.test.fleet.fail(&failed, FailureCode::OutOfMemory, "Killed");

    let page = teacher.get_until(&room, "state-failed").await;
    assert_eq!(rows(&page.body), [failed.as_str(), &ready]);
    assert!(page.body.contains(TEACHER), "a member without a workshop");
    assert!(!page.body.contains(&format!("/instances/{ready}/open")), "a teacher never enters a workshop of a student");
    let student = alice.get(&room).await.body;
    assert!(!student.contains(BOB) && !student.contains("id=\"board\""), "students do not see each other");

    let action = format!("{room}/instances/{ready}");
    let ask = teacher.get(&format!("{action}/end")).await;
    assert_eq!(ask.status, StatusCode::OK);
    assert_eq!(teacher.post(&format!("{action}/end"), &[]).await.location(), room);
    let own = alice.get_until("/history", &ready).await;
    assert!(own.body.contains("Ended by a teacher"), "{}", own.body);
    app.finish().await;
}

#[tokio::test]
async fn teacher_adds_and_removes_members() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    let wrong = teacher.post(&format!("{room}/members"), &[("addresses", "Alice Miller"), ("role", "student")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("Alice Miller"), "the list and its error");
    add(&teacher, &room, ALICE, "student").await;
    let name = alice.launch(&template).await;

    let remove = format!("{room}/members/{}/remove", ALICE.replace('@', "%40"));
    assert_eq!(alice.post(&remove, &[]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(teacher.get(&remove).await.status, StatusCode::OK);
    assert_eq!(teacher.post(&remove, &[]).await.location(), room);
    assert_eq!(alice.get(&room).await.status, StatusCode::NOT_FOUND);
    eventually(async || alice.get("/history").await.body.contains(&name).then_some(())).await;

    let own = format!("{room}/members/{}/remove", TEACHER.replace('@', "%40"));
    let last = teacher.post(&own, &[]).await;
    assert_eq!(last.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(last.body.contains("make another member a teacher first"));
    app.finish().await;
}

#[tokio::test]
async fn teacher_edits_templates_of_the_class_with_the_editor() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, alice) = (app.browser(TEACHER), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    assert!(teacher.get(&room).await.body.contains(&format!("{room}/templates/{template}/edit")));
    assert!(!alice.get(&room).await.body.contains("/templates/"));

    let action = format!("{room}/templates");
    let form = teacher.get(&format!("{action}/new")).await.form(&action);
    let wanted = [("name", "Exercise 2"), ("image", "example.org/image"), ("app_type", "notebook")];
    let mut form: Vec<_> =
        form.iter().filter(|(name, _)| wanted.iter().all(|(other, _)| name != other)).cloned().collect();
    form.extend(wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(teacher.post(&action, &borrowed(&form)).await.location(), room);
    assert!(alice.get("/").await.body.contains("Exercise 2"));
    assert!(!app.browser(ADMIN).get("/admin/templates").await.body.contains("Exercise 2"), "the shared catalog");

    let action = format!("{room}/templates/{template}");
    let form = teacher.get(&format!("{action}/edit")).await.form(&action);
    assert_eq!(teacher.post(&action, &with(&form, "name", "Exercise 1a")).await.location(), room);
    assert!(alice.get(&room).await.body.contains("Exercise 1a"));
    for path in [format!("{room}/templates/new"), format!("{action}/edit")] {
        assert_eq!(alice.get(&path).await.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(app.browser(BOB).get(&path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let elsewhere = format!("/admin/templates/{template}/edit");
    assert_eq!(
        app.browser(ADMIN).get(&elsewhere).await.status,
        StatusCode::NOT_FOUND,
        "the editor of the shared catalog"
    );
    app.finish().await;
}

#[tokio::test]
async fn only_admins_create_classes() {
    let app = App::start().await;
    let made = app.browser(ALICE).post("/classes", &[("name", "Mine"), ("teachers", "")]).await;
    assert_eq!(made.status, StatusCode::FORBIDDEN);
    assert!(!app.browser(ALICE).get("/classes").await.body.contains("id=\"new-class\""));
    let wrong = app.browser(ADMIN).post("/classes", &[("name", " "), ("teachers", "not-an-address")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("not-an-address"));
    let refused = app
        .test
        .launcher
        .create_class(&app.admin(), &NewClass { body: json!({}).as_object().unwrap().clone(), teachers: Vec::new() })
        .await;
    assert!(refused.is_err(), "a class needs a name");
    app.finish().await;
}

#[tokio::test]
async fn teacher_changes_the_settings_and_keeps_those_of_admins() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (teacher, admin, alice) = (app.browser(TEACHER), app.browser(ADMIN), app.browser(ALICE));
    add(&teacher, &room, ALICE, "student").await;
    let edit = format!("{room}/edit");
    let saved = admin.post(&edit, &[("version", "1"), ("name", "Statistics"), ("queue_weight", "3")]).await;
    assert_eq!(saved.location(), room);
    let form = teacher.get(&edit).await.body;
    assert!(form.contains("value=\"Statistics\"") && !form.contains("queue_weight"), "{form}");
    let values = [("version", "2"), ("name", "Statistics"), ("ends_on", "2000-01-01"), ("max_workshops", "x")];
    let wrong = teacher.post(&edit, &values).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("value=\"x\"") && wrong.body.contains("value=\"2000-01-01\""), "{}", wrong.body);
    let values = [("version", "2"), ("name", "Statistics"), ("ends_on", "2000-01-01"), ("max_workshops", "5")];
    assert_eq!(teacher.post(&edit, &values).await.location(), room);
    assert_eq!(teacher.post(&edit, &values).await.status, StatusCode::PRECONDITION_FAILED, "an outdated page");
    assert!(
        admin.get(&edit).await.body.contains("name=\"queue_weight\" dir=\"auto\" autocomplete=\"off\" value=\"3\"")
    );
    let over = alice.post(&format!("/launch/{template}"), &[]).await;
    assert_eq!(over.status, StatusCode::CONFLICT);
    assert!(over.body.contains("This class is over"), "{}", over.body);
    assert!(!alice.get("/").await.body.contains("Exercise 1"));
    app.finish().await;
}

#[tokio::test]
async fn admin_selects_the_namespace_of_a_class_and_a_teacher_keeps_it() {
    let app = App::with(Options { class_namespaces: &["class-a", "class-b"], ..Options::default() }).await;
    let (room, _) = class(&app).await;
    let (teacher, admin) = (app.browser(TEACHER), app.browser(ADMIN));
    let edit = format!("{room}/edit");
    let saved = admin.post(&edit, &[("version", "1"), ("name", "x"), ("namespace", "class-b")]).await;
    assert_eq!(saved.location(), room);
    let form = admin.get(&edit).await.body;
    assert!(form.contains("<option>class-a</option>") && form.contains("<option selected>class-b</option>"), "{form}");
    assert!(!teacher.get(&edit).await.body.contains("class-a"));
    assert_eq!(teacher.post(&edit, &[("version", "2"), ("name", "y")]).await.location(), room);
    let wrong = admin.post(&edit, &[("version", "3"), ("name", "y"), ("namespace", "default")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("null, class-a, class-b"), "{}", wrong.body);
    let saved = admin.post(&edit, &[("version", "3"), ("name", "y"), ("namespace", "")]).await;
    assert_eq!(saved.location(), room);
    assert!(!admin.get(&edit).await.body.contains("<option selected>"));
    app.finish().await;
}

#[tokio::test]
async fn person_who_may_create_classes_finds_their_page_before_the_first_one() {
    let settings = vec![format!("--class-creators={TEACHER}")];
    let app = App::with(Options { settings, ..Options::default() }).await;
    for (email, has_link) in [(TEACHER, true), (ADMIN, true), (ALICE, false)] {
        let home = app.browser(email).get("/").await.body;
        assert_eq!(home.contains("<a href=\"/classes\">Classes</a>"), has_link, "{email}");
    }
    app.finish().await;
}
