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
    let saved =
        admin.post(&edit, &[("version", "1"), ("name", "Statistics"), ("slug", ""), ("queue_weight", "3")]).await;
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
        admin
            .get(&edit)
            .await
            .body
            .contains("name=\"queue_weight\" inputmode=\"numeric\" autocomplete=\"off\" value=\"3\"")
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

#[tokio::test]
async fn admin_sets_the_policy_and_the_editor_of_the_class_offers_what_it_allows() {
    let app = App::start().await;
    let (room, template) = class(&app).await;
    let (admin, teacher) = (app.browser(ADMIN), app.browser(TEACHER));
    let (edit, new) = (format!("{room}/edit"), format!("{room}/templates/new"));
    let free = teacher.get(&new).await.body;
    assert!(free.contains("?preset=vscode") && !free.contains("?preset=rstudio"), "its profile is for admins only");
    assert!(free.contains("<b>Other</b>") && free.contains("value=\"large\""), "{free}");

    let mut form = admin.get(&edit).await.form(&edit);
    form.retain(|(name, _)| !name.starts_with("allowed_"));
    form.extend([
        ("allowed_images".to_owned(), "quay.io/jupyter/*\r\n\r\nexample.org/<lab>".to_owned()),
        ("allowed_sizes".to_owned(), "tiny\nsmall".to_owned()),
    ]);
    let wrong = admin.post(&edit, &borrowed(&form)).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("Entry 2: An image as in quay.io/jupyter"), "{}", wrong.body);
    let form = with(&form, "allowed_images", "quay.io/jupyter/*\nexample.org/lab");
    let form: Vec<_> = form.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let wrong = admin.post(&edit, &borrowed(&form)).await;
    let sizes = "Entry 1: Is not a size of this launcher; the sizes are: small, medium, large.";
    assert!(wrong.status == StatusCode::UNPROCESSABLE_ENTITY && wrong.body.contains(sizes), "{}", wrong.body);
    let form = with(&form, "allowed_sizes", "small\nlarge");
    assert_eq!(admin.post(&edit, &form).await.location(), room);

    let settings = teacher.get(&edit).await.body;
    assert!(
        settings.contains("Only admins change it.")
            && settings.contains("readonly")
            && settings.contains("quay.io/jupyter/*\nexample.org/lab"),
        "{settings}"
    );
    assert!(!settings.contains("allows_baseline"), "{settings}");
    let form = teacher.get(&edit).await.form(&edit);
    let changed = with(&form, "allowed_images", "");
    let refused = teacher.post(&edit, &changed).await;
    assert!(refused.status == StatusCode::UNPROCESSABLE_ENTITY && refused.body.contains("Only an administrator"));
    assert_eq!(teacher.post(&edit, &borrowed(&form)).await.location(), room, "an unchanged policy");

    let page = teacher.get(&new).await;
    assert!(page.body.contains("?preset=jupyterlab") && !page.body.contains("?preset=vscode"), "{}", page.body);
    assert!(page.body.contains("This class allows these images: quay.io/jupyter/*, example.org/lab"));
    assert!(page.body.contains("<option value=\"example.org/lab\">"), "{}", page.body);
    assert!(!page.body.contains("<b>Other</b>") && !page.body.contains("<b>Medium</b>"), "{}", page.body);
    let action = format!("{room}/templates");
    let form = page.form(&action);
    let size = form.iter().find(|(name, _)| name == "size").map(|(_, value)| value.as_str());
    assert_eq!(size, Some("large"), "the smallest size with the memory of a new template");
    let named = with(&form, "name", "Lab");
    let named: Vec<_> = named.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let refused = teacher.post(&action, &with(&named, "image", "evil.example/x")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("id=\"field-image-error\">This class allows only these images"), "{}", refused.body);
    let mut other = with(&named, "image", "example.org/lab:1");
    other.retain(|(name, _)| *name != "memory_limit");
    other.push(("memory_limit", "3Gi"));
    let refused = teacher.post(&action, &other).await;
    assert!(refused.body.contains("id=\"field-size-error\">This class allows only these sizes: small, large"));
    assert_eq!(teacher.post(&action, &with(&named, "image", "example.org/lab:1")).await.location(), room);

    assert_eq!(teacher.get(&room).await.body.matches("Not allowed in this class").count(), 1, "the first template");
    let form = teacher.get(&format!("/launch/{template}")).await.form(&format!("/launch/{template}"));
    let refused = teacher.post(&format!("/launch/{template}"), &borrowed(&form)).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("The class no longer allows this workshop."), "{}", refused.body);
    app.finish().await;
}

#[tokio::test]
async fn class_folds_the_shared_catalog_for_its_members() {
    let app = App::start().await;
    let (room, _) = class(&app).await;
    for name in ["Anatomy", "Botany"] {
        app.template(name, |_| ()).await;
    }
    let (teacher, alice, bob) = (app.browser(TEACHER), app.browser(ALICE), app.browser(BOB));
    add(&teacher, &room, ALICE, "student").await;
    assert!(!alice.get("/").await.body.contains("<details class=\"shared\""), "not by default");
    let edit = format!("{room}/edit");
    let form = teacher.get(&edit).await.form(&edit);
    assert_eq!(teacher.post(&edit, &with(&form, "folds_catalog", "true")).await.location(), room);
    let home = alice.get("/").await.body;
    let (first, folded) = home.split_once("<details class=\"shared\"><summary>2 more workshops</summary>").unwrap();
    assert!(first.contains("Exercise 1") && !first.contains("Anatomy") && folded.contains("Botany"), "{home}");
    assert!(alice.get("/?q=anat").await.body.contains("<details class=\"shared\" open><summary>One more workshop"));
    assert!(!bob.get("/").await.body.contains("<details class=\"shared\""), "not a member");
    app.finish().await;
}
