//! The choice of a language on pages that answer a form. A browser cannot open the address of such a page again.

use launcher_service::Limits;
use std::collections::BTreeSet;

use http::{Method, StatusCode};
use launcher_testkit::Options;

use crate::support::{ADMIN, ALICE, Answer, App, BOB, Browser, borrowed, with};

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000404";

/// A form that is answered with a page: route, path, fields, and status of the answer.
type Sent<'a> = (&'static str, String, Vec<(&'a str, &'a str)>, StatusCode);

/// Chooses Arabic on the page that the form at `path` returned. Returns the path of the page that opens.
async fn choose_arabic(browser: &Browser, path: &str, page: &Answer) -> String {
    let form = page.form("/language");
    let request = browser.request(Method::POST, "/language").header("sec-fetch-site", "same-origin");
    let request = request.header("referer", format!("http://launcher.test{path}"));
    let chosen = Answer::of(request.form(&with(&form, "language", "ar"))).await;
    let (next, cookie) = (chosen.location().to_owned(), chosen.header("set-cookie"));
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let opened = Answer::of(browser.request(Method::GET, &next).header("cookie", cookie)).await;
    assert_eq!(opened.status, StatusCode::OK, "{path} leads to {next}");
    assert!(opened.body.contains("<html lang=\"ar\""), "{path} leads to {next}: {}", opened.body);
    next
}

/// Sends each form, and chooses a language on the page that answers it. Returns the routes and the paths that opened.
async fn choose_after_each(browser: &Browser, forms: &[Sent<'_>]) -> Vec<(&'static str, String)> {
    let mut opened = Vec::new();
    for (route, path, fields, status) in forms {
        let page = browser.post(path, fields).await;
        assert_eq!(page.status, *status, "{path} {fields:?}: {}", page.body);
        opened.push((*route, choose_arabic(browser, path, &page).await));
    }
    opened
}

/// Asserts that each page opened at its expected path. Adds their routes to `covered`.
fn check(opened: &[(&'static str, String)], expected: &[&str], covered: &mut BTreeSet<&'static str>) {
    assert_eq!(opened.iter().map(|(_, path)| path.as_str()).collect::<Vec<_>>(), expected);
    covered.extend(opened.iter().map(|(route, _)| *route));
}

#[tokio::test]
async fn language_choice_on_each_page_that_answers_a_form_opens_a_page() {
    use StatusCode as S;
    let limits = Limits { max_instances_per_user: 1, ..Limits::default() };
    let app = App::with(Options { limits, runs_at_once: false, ..Options::default() }).await;
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    let template = app.template("Penguins", |_| {}).await;
    let name = alice.launch(&template).await;
    let mut covered = BTreeSet::new();

    let (extend, missing) = (format!("/instances/{name}/extend"), "/instances/penguins-abcdefghij/end".to_owned());
    let forms = [
        ("/launch/{template_id}", format!("/launch/{template}"), vec![], S::CONFLICT),
        ("/launch/{template_id}", format!("/launch/{UNKNOWN}"), vec![], S::NOT_FOUND),
        ("/instances/{k8s_name}/extend", extend, vec![("return_to", "/history")], S::CONFLICT),
        ("/instances/{k8s_name}/end", missing, vec![], S::NOT_FOUND),
        ("/instances/{k8s_name}/suspend", format!("/instances/{name}/suspend"), vec![], S::CONFLICT),
        ("/instances/{k8s_name}/resume", "/instances/penguins-abcdefghij/resume".to_owned(), vec![], S::NOT_FOUND),
        (
            "/instances/{k8s_name}/try-again",
            "/instances/penguins-abcdefghij/try-again".to_owned(),
            vec![("idempotency_key", "k")],
            S::NOT_FOUND,
        ),
        ("/work/{volume}/delete", "/work/work-aaaaaaaaaa/delete".to_owned(), vec![], S::NOT_FOUND),
        ("/work/snapshots/{snapshot_id}/delete", format!("/work/snapshots/{UNKNOWN}/delete"), vec![], S::NOT_FOUND),
        ("/language", "/language".to_owned(), vec![("other", "x")], S::UNPROCESSABLE_ENTITY),
    ];
    check(&choose_after_each(&alice, &forms).await, &["/"; 10], &mut covered);

    let list = format!("/admin/instances?q={}", "%E4%B8%AD".repeat(100));
    let class = format!("/admin/templates/{template}/workshops");
    let bulk = "/admin/instances/bulk";
    let bulk_form = |action| vec![("action", action), ("ticked", name.as_str()), ("return_to", list.as_str())];
    let of_class = |verb: &str| format!("/admin/templates/{template}/{verb}");
    let many: String = (0..1001).map(|number| format!("student{number}@example.org\n")).collect();
    let forms = [
        (bulk, bulk.to_owned(), bulk_form("end"), S::OK),
        (bulk, bulk.to_owned(), bulk_form("extend"), S::OK),
        (bulk, bulk.to_owned(), bulk_form("other"), S::UNPROCESSABLE_ENTITY),
        ("/admin/templates/{template_id}/workshops", class.clone(), vec![("addresses", ALICE)], S::OK),
        (
            "/admin/templates/{template_id}/workshops",
            class.clone(),
            vec![("addresses", many.as_str())],
            S::UNPROCESSABLE_ENTITY,
        ),
        ("/admin/templates/{template_id}/extend", of_class("extend"), vec![("until", "2100-01-01T00:00:00Z")], S::OK),
        ("/admin/templates/{template_id}/extend", of_class("extend"), vec![], S::UNPROCESSABLE_ENTITY),
        ("/admin/templates/{template_id}/maximum", format!("/admin/templates/{UNKNOWN}/maximum"), vec![], S::NOT_FOUND),
        ("/admin/templates/{template_id}/image", of_class("image"), vec![], S::CONFLICT),
        ("/admin/templates/{template_id}/archive", format!("/admin/templates/{UNKNOWN}/archive"), vec![], S::NOT_FOUND),
        ("/admin/templates/{template_id}/restore", format!("/admin/templates/{UNKNOWN}/restore"), vec![], S::NOT_FOUND),
    ];
    let expected = [list.as_str(), &list, "/", &class, &class, &class, "/", "/", "/", "/", "/"];
    check(&choose_after_each(&admin, &forms).await, &expected, &mut covered);

    let room = admin.post("/classes", &[("name", "Penguins"), ("teachers", "")]).await.location().to_owned();
    let gone = |verb: &str| format!("{room}/instances/penguins-abcdefghij/{verb}");
    let edit = format!("{room}/edit");
    let [member, own] = ["edit", "remove"].map(|verb| format!("{room}/members/{}/{verb}", ADMIN.replace('@', "%40")));
    let unknown = |rest: &str| format!("/classes/nothing-here/{rest}");
    let forms = [
        ("/classes/{class}/message", format!("{room}/message"), vec![("text", " ")], S::UNPROCESSABLE_ENTITY),
        ("/classes/{class}/message/remove", unknown("message/remove"), vec![], S::NOT_FOUND),
        ("/classes/{class}/hand", unknown("hand"), vec![], S::NOT_FOUND),
        ("/classes/{class}/hand/lower", unknown("hand/lower"), vec![], S::NOT_FOUND),
        ("/classes/{class}/hands/{email}/take", unknown("hands/a%40b.org/take"), vec![], S::NOT_FOUND),
        ("/classes/{class}/hands/{email}/lower", unknown("hands/a%40b.org/lower"), vec![], S::NOT_FOUND),
    ];
    let expected = [room.as_str(), "/", "/", "/", "/", "/"];
    check(&choose_after_each(&admin, &forms).await, &expected, &mut covered);
    let forms = [
        ("/classes", "/classes".to_owned(), vec![("name", ""), ("teachers", "")], S::UNPROCESSABLE_ENTITY),
        ("/import/class", "/import/class".to_owned(), vec![("teachers", "")], S::UNPROCESSABLE_ENTITY),
        ("/classes/{class}/members", format!("{room}/members"), vec![("addresses", "x")], S::UNPROCESSABLE_ENTITY),
        (
            "/classes/{class}/edit",
            format!("{room}/edit"),
            vec![("version", "1"), ("name", "")],
            S::UNPROCESSABLE_ENTITY,
        ),
        (
            "/classes/{class}/join-link",
            format!("{room}/join-link"),
            vec![("valid_days", "1"), ("seats", "x"), ("domain", "")],
            S::UNPROCESSABLE_ENTITY,
        ),
        ("/join/{code}", "/join/abcde-fghij".to_owned(), vec![], S::NOT_FOUND),
        ("/classes/{class}/members", format!("{room}/members"), vec![("addresses", ALICE)], S::OK),
        (
            "/classes/{class}/members/apply",
            format!("{room}/members/apply"),
            vec![("rows", "[]"), ("remove", ADMIN)],
            S::UNPROCESSABLE_ENTITY,
        ),
        ("/classes/{class}/members/{email}/edit", member, vec![("role", "student")], S::UNPROCESSABLE_ENTITY),
        ("/classes/{class}/members/{email}/remove", own, vec![], S::UNPROCESSABLE_ENTITY),
        ("/classes/{class}/instances/{k8s_name}/extend", gone("extend"), vec![], S::NOT_FOUND),
        ("/classes/{class}/instances/{k8s_name}/end", gone("end"), vec![], S::NOT_FOUND),
        ("/classes/{class}/launch", format!("{room}/launch"), vec![("template_id", UNKNOWN)], S::NOT_FOUND),
        ("/classes/{class}/extend", format!("{room}/extend"), vec![("until", "2100-01-01T00:00:00Z")], S::OK),
        ("/classes/{class}/pause", format!("{room}/pause"), vec![], S::OK),
        ("/classes/{class}/end", format!("{room}/end"), vec![], S::OK),
    ];
    let expected = [
        "/classes",
        "/classes",
        room.as_str(),
        &edit,
        &room,
        "/join",
        &room,
        &room,
        &room,
        &room,
        &room,
        &room,
        &room,
        &room,
        &room,
        &room,
    ];
    check(&choose_after_each(&admin, &forms).await, &expected, &mut covered);

    // These pages send their own form, as the next test checks.
    covered.extend(["/admin/templates", "/admin/templates/{template_id}"]);
    // It has no page of its own.
    covered.insert("/classes/{class}/join-link/revoke");
    covered.extend(["/classes/{class}/templates", "/classes/{class}/templates/{template_id}"]);
    let routes = launcher_api::undocumented_routes("/api/v1");
    let posts: BTreeSet<String> = routes.filter(|(method, _)| *method == "POST").map(|(_, path)| path).collect();
    let missing: Vec<_> =
        posts.iter().filter(|path| !path.starts_with("/api/") && !covered.contains(path.as_str())).collect();
    assert!(missing.is_empty(), "choose a language on the pages of these routes: {missing:?}");
    app.finish().await;
}

/// Chooses a language on a page of the editor, whose buttons send the form with these fields to `path`. Returns the page
/// that opens.
async fn choose_in_editor(admin: &Browser, path: &str, fields: &[(&str, &str)]) -> Answer {
    let page = admin.post(path, &[fields, &[("language", "de")]].concat()).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.header("set-cookie").contains("=de;"), "{}", page.header("set-cookie"));
    assert!(page.body.contains("<html lang=\"de\""), "{}", page.body);
    page
}

#[tokio::test]
async fn language_choice_in_the_editor_keeps_typed_values_and_saves_nothing() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let template = app.template("Penguins", |_| {}).await;
    let (create, save) = ("/admin/templates".to_owned(), format!("/admin/templates/{template}"));
    let before = admin.get("/api/v1/templates/").await.body;
    for (form_page, path) in [(format!("{create}/new"), create), (format!("{save}/edit"), save)] {
        let page = admin.get(&form_page).await;
        for code in ["ar", "de"] {
            let button = format!("<button class=\"link\" name=\"language\" value=\"{code}\" form=\"template-form\"");
            assert!(page.body.contains(&button), "{}", page.body);
        }
        let form = page.form(&path);
        let typed = with(&form, "memory_limit", "much");
        let fresh = choose_in_editor(&admin, &path, &typed).await;
        assert!(!fresh.body.contains("id=\"summary-title\""), "no errors before the form was sent: {}", fresh.body);
        let kept = fresh.form(&path);
        assert!(kept.contains(&("memory_limit".to_owned(), "much".to_owned())), "{kept:?}");

        let refused = admin.post(&path, &typed).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        let refused = refused.form(&path);
        let answer = choose_in_editor(&admin, &path, &borrowed(&refused)).await;
        assert!(answer.body.contains("id=\"field-memory_limit-error\""), "{}", answer.body);
        assert_eq!(answer.form(&path), refused);
    }
    assert_eq!(admin.get("/api/v1/templates/").await.body, before);
    app.finish().await;
}

#[tokio::test]
async fn language_choice_opens_only_pages_of_this_site() {
    let app = App::start().await;
    let away = app.browser(BOB).post("/language", &[("language", "de"), ("return_to", "//evil.example")]).await;
    assert_eq!(away.location(), "/");
    app.finish().await;
}

#[tokio::test]
async fn workshop_is_ended_from_a_list_with_a_long_search() {
    let app = App::start().await;
    let list = format!("/admin/instances?q={}", "%E4%B8%AD".repeat(100));
    let name = app.browser(ALICE).launch(&app.template("Penguins", |_| {}).await).await;
    let ended = app.browser(ADMIN).post(&format!("/instances/{name}/end"), &[("return_to", &list)]).await;
    assert_eq!(ended.location(), list);
    app.finish().await;
}
