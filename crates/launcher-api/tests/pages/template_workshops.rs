//! The view of a class: all instances of one template, a list of its people, and the extension of all workshops.

use http::StatusCode;
use launcher_domain::{AdminList, EmailAddress, FailureCode, MaterialOutcome, MaterialReport, SourceReport};
use launcher_service::LaunchRequest;
use launcher_testkit::{Options, eventually};
use serde_json::json;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed, unescape, with};

fn class_of(template: &str) -> String {
    format!("/admin/templates/{template}/workshops")
}

fn extend_path(template: &str) -> String {
    format!("/admin/templates/{template}/extend")
}

/// Returns the values of the list of times.
fn times(page: &str) -> Vec<String> {
    let list = page.split("name=\"until\"").nth(1).unwrap().split("</select>").next().unwrap();
    list.split("<option value=\"").skip(1).map(|option| option.split('"').next().unwrap().to_owned()).collect()
}

/// Returns the numbers on the tiles of a page.
fn tiles(page: &str) -> Vec<u64> {
    let numbers = page.split("class=\"figure\">").skip(1);
    numbers.map(|part| part.split('<').next().unwrap().parse().unwrap()).collect()
}

/// Returns the names of the instances in the table, from top to bottom.
fn rows(page: &str) -> Vec<&str> {
    page.split("id=\"row-").skip(1).map(|row| row.split('"').next().unwrap()).collect()
}

/// Returns the groups of the compared list: label and entries.
fn groups(page: &str) -> Vec<(String, Vec<String>)> {
    let Some((_, compared)) = page.split_once("<div class=\"standings\">") else { return Vec::new() };
    let compared = compared.split("</section>").next().unwrap();
    let inner = |text: &str| unescape(text.split('<').next().unwrap());
    let group = |part: &str| {
        let label = inner(part.split("aria-hidden=\"true\"></span>").nth(1).unwrap());
        (label, part.split("<li><bdi>").skip(1).map(inner).collect())
    };
    compared.split("<h3>").skip(1).map(group).collect()
}

/// Launches a ready workshop for each of `count` people.
async fn launch_class(app: &App, template: &str, count: usize) {
    launch_class_of(app, template, 0..count).await;
}

/// Launches a ready workshop for each of these people.
async fn launch_class_of(app: &App, template: &str, people: std::ops::Range<usize>) {
    let count = people.end;
    for number in people {
        let email = EmailAddress::parse(&format!("student{number:02}@example.org")).unwrap();
        let caller = AdminList::parse("").unwrap().caller(email);
        app.test.launcher.launch(&caller, template.parse().unwrap(), &LaunchRequest::default()).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    let all_ready = [0, count as u64, 0, 0];
    eventually(async || (tiles(&admin.get(&class_of(template)).await.body) == all_ready).then_some(())).await;
}

#[tokio::test]
async fn class_of_30_is_extended_in_two_requests_and_repetition_changes_nothing() {
    let app = App::start().await;
    let (template, other) = (app.template("Penguins", |_| {}).await, app.template("Whales", |_| {}).await);
    app.browser(BOB).launch(&other).await;
    launch_class(&app, &template, 30).await;
    let admin = app.browser(ADMIN);

    let page = admin.get(&class_of(&template)).await;
    assert_eq!(tiles(&page.body), [0, 30, 0, 0]);
    let until = times(&page.body).swap_remove(0);
    let form = page.form(&extend_path(&template));
    let report = admin.post(&extend_path(&template), &with(&form, "until", &until)).await;
    assert_eq!(report.status, StatusCode::OK);
    assert_eq!(tiles(&report.body), [30, 0, 0, 0], "{}", report.body);
    assert_eq!(report.body.matches("Extended until <time").count(), 30, "{}", report.body);
    let back = format!("<a href=\"{}\">Back to the workshops</a>", class_of(&template));
    assert!(report.body.contains(&back) && report.body.contains("student07@example.org"), "{}", report.body);

    let again = admin.post(&extend_path(&template), &[("until", &until)]).await;
    assert_eq!(tiles(&again.body), [0, 0, 30, 0], "{}", again.body);
    assert_eq!(again.body.matches("Unchanged: ends at <time").count(), 30);
    let class = admin.get(&class_of(&template)).await.body;
    assert_eq!(class.matches(&format!("<td><time datetime=\"{until}\"")).count(), 30, "{class}");
    assert!(!admin.get("/admin/instances?q=whales").await.body.contains(&until), "another class is unchanged");
    app.finish().await;
}

#[tokio::test]
async fn class_extension_reports_maximum_which_the_admin_can_exceed() {
    let app = App::start().await;
    let template = app.template("Short", |template| {
        template["lifetime_seconds"] = json!(1800);
        template["max_lifetime_seconds"] = json!(3600);
    });
    let template = template.await;
    let (admin, action) = (app.browser(ADMIN), extend_path(&template));
    let until = times(&admin.get(&class_of(&template)).await.body).pop().unwrap();
    let nothing = admin.post(&action, &[("until", &until)]).await;
    assert!(nothing.body.contains("No workshop is ready."), "{}", nothing.body);

    launch_class(&app, &template, 1).await;
    let shortened = admin.post(&action, &[("until", &until)]).await;
    assert_eq!(tiles(&shortened.body), [0, 1, 0, 0]);
    assert!(shortened.body.contains("Extended only until <time"), "{}", shortened.body);
    let refused = admin.post(&action, &[("until", &until)]).await;
    assert_eq!(tiles(&refused.body), [0, 0, 0, 1]);
    assert!(refused.body.contains("Not done:") && refused.body.contains("maximum lifetime"), "{}", refused.body);

    let section = refused.body.split("id=\"at-maximum\"").nth(1).unwrap();
    assert!(section.contains("1 workshop ends earlier") && section.contains("student00@example.org"), "{section}");
    let form = &refused.body[refused.body.find("name=\"until\"").unwrap()..];
    assert!(form.contains(&format!("value=\"{until}\"")) && form.contains("name=\"beyond_maximum\""), "{form}");
    let beyond = admin.post(&action, &[("until", &*until), ("beyond_maximum", "yes")]).await;
    assert_eq!(tiles(&beyond.body), [1, 0, 0, 0], "{}", beyond.body);
    assert!(!beyond.body.contains("at-maximum"), "{}", beyond.body);

    for wrong in ["", "12:30", "tomorrow", "<script>", "2026-13-01T00:00:00Z"] {
        let answer = admin.post(&action, &[("until", wrong)]).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(answer.body.contains("Choose a time from the list."), "{}", answer.body);
    }
    let past = admin.post(&action, &[("until", "1970-01-01T00:00:00Z")]).await;
    assert_eq!(tiles(&past.body), [0, 0, 1, 0], "an expiry never becomes earlier: {}", past.body);
    app.finish().await;
}

#[tokio::test]
async fn times_begin_with_the_half_hour_after_the_latest_end() {
    let app = App::start().await;
    let template = app.template("Penguins", |template| template["lifetime_seconds"] = json!(2 * 3600)).await;
    let admin = app.browser(ADMIN);
    let page = admin.get(&class_of(&template)).await.body;
    let seconds = |page: &str| -> Vec<i64> {
        times(page).iter().map(|time| time.parse::<jiff::Timestamp>().unwrap().as_second()).collect()
    };
    let now = launcher_domain::Clock::now(&*app.test.clock).as_second();
    let first = |end: i64| (end / 1800 + 1) * 1800;
    let offered = seconds(&page);
    assert_eq!(offered[..5], [0, 900, 1800, 3600, 5400].map(|offset| first(now) + offset), "nothing runs: as of now");
    assert_eq!((offered.len(), offered.last()), (17, Some(&(first(now) + 15 * 1800))));
    let human: jiff::Timestamp = times(&page)[0].parse().unwrap();
    assert!(page.contains(&format!("data-local>{}</option>", human.strftime("%H:%M UTC"))), "{page}");

    launch_class(&app, &template, 2).await;
    app.test.clock.advance(std::time::Duration::from_secs(3600));
    launch_class_of(&app, &template, 2..3).await;
    let end = launcher_domain::Clock::now(&*app.test.clock).as_second() + 2 * 3600;
    let offered = seconds(&admin.get(&class_of(&template)).await.body);
    assert_eq!(offered[..4], [0, 900, 1800, 3600].map(|offset| first(end) + offset), "after the latest end");
    app.finish().await;
}

#[tokio::test]
async fn class_counts_and_marks_workshops_whose_course_material_has_a_problem() {
    let app = App::start().await;
    let source = json!({ "kind": "git", "url": "https://git.example.org/a.git", "target": "a" });
    let template = app.template("Penguins", |template| template["material"] = json!({ "sources": [source] })).await;
    launch_class(&app, &template, 3).await;
    let (admin, path) = (app.browser(ADMIN), class_of(&template));
    let page = admin.get(&path).await.body;
    assert!(page.contains(">Course material</th>") && !page.contains("Not loaded"), "{page}");
    let names: Vec<String> = rows(&page).into_iter().map(str::to_owned).collect();
    let conflicts =
        SourceReport { outcome: MaterialOutcome::Updated, conflict_count: 2, ..SourceReport::failed("a", "") };
    for (name, source) in [(&names[0], SourceReport::failed("a", "Gone.")), (&names[1], conflicts)] {
        app.test.fleet.report_material(name, MaterialReport { sources: vec![source] });
    }
    let page = eventually(async || {
        let page = admin.get(&path).await.body;
        (tiles(&page) == [0, 3, 0, 0, 2]).then_some(page)
    })
    .await;
    assert!(page.contains("Course material has a problem"), "{page}");
    let list = admin.get("/admin/instances").await.body;
    for page in [&page, &list] {
        let mark = |text: &str| page.matches(&format!("<td><strong class=\"error\">{text}</strong></td>")).count();
        assert_eq!((mark("Not loaded"), mark("Conflicts")), (1, 1), "{page}");
    }
    app.finish().await;
}

#[tokio::test]
async fn class_of_unknown_template_is_404_and_class_is_for_admins_only() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let until = [("until", "2100-01-01T00:00:00Z")];
    let (admin, alice) = (app.browser(ADMIN), app.browser(ALICE));
    for unknown in ["00000000-0000-4000-8000-000000000404", "x"] {
        assert_eq!(admin.get(&class_of(unknown)).await.status, StatusCode::NOT_FOUND);
        assert_eq!(admin.post(&class_of(unknown), &[("addresses", ALICE)]).await.status, StatusCode::NOT_FOUND);
        assert_eq!(admin.post(&extend_path(unknown), &until).await.status, StatusCode::NOT_FOUND);
    }
    for path in [&template, "00000000-0000-4000-8000-000000000404"] {
        assert_eq!(alice.get(&class_of(path)).await.status, StatusCode::FORBIDDEN);
        assert_eq!(alice.post(&class_of(path), &[("addresses", ALICE)]).await.status, StatusCode::FORBIDDEN);
        assert_eq!(alice.post(&extend_path(path), &until).await.status, StatusCode::FORBIDDEN);
    }
    for page in ["/admin/templates", "/admin"] {
        let shown = admin.get(page).await.body;
        let is_listed = shown.contains(&format!("href=\"{}\">Workshops<", class_of(&template)));
        assert_eq!(is_listed, page == "/admin/templates", "{page}: {shown}");
    }
    app.browser(ALICE).launch(&template).await;
    assert!(admin.get("/admin").await.body.contains(&format!("href=\"{}\">Workshops<", class_of(&template))));
    app.finish().await;
}

#[tokio::test]
async fn list_of_templates_has_the_number_of_running_workshops() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let admin = app.browser(ADMIN);
    let cell = |count: u64| format!("data-label=\"Running now\">{count}<");
    assert!(admin.get("/admin/templates").await.body.contains(&cell(0)));
    launch_class(&app, &template, 2).await;
    assert!(admin.get("/admin/templates").await.body.contains(&cell(2)));
    app.finish().await;
}

#[tokio::test]
async fn pasted_list_is_compared_with_the_class() {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let (template, other) = (app.template("Penguins", |_| {}).await, app.template("Whales", |_| {}).await);
    let (alice, bob) = (app.browser(ALICE), app.browser(BOB));
    let (hers, his) = (alice.launch(&template).await, bob.launch(&template).await);
    alice.launch(&other).await;
    for name in [&hers, &his] {
        eventually(async || app.test.fleet.workshop(name)).await;
    }
    app.test.fleet.ready(&hers);
    alice.get_until(&format!("/instances/{hers}"), "Ready").await;
    let text = "Alice Ä <ALICE@example.org>, bob@example.org;carol@example.org\nbob@example.org\nDoe, Dave\t<dave@example.org>\n\
                ü@example.org; <script>alert(1)</script>";
    let (admin, path) = (app.browser(ADMIN), class_of(&template));
    let list = [("addresses", text)];
    let page = admin.post(&path, &list).await;
    assert_eq!(page.status, StatusCode::OK);
    let group =
        |label: &str, entries: &[&str]| (label.to_owned(), entries.iter().map(|one| (*one).to_owned()).collect());
    let wrong = group("Not an e-mail address", &["ü@example.org", "<script>alert(1)</script>"]);
    let missing = group("Not launched", &["carol@example.org", "dave@example.org"]);
    let expected = [missing.clone(), group("Starting", &[BOB]), group("Ready", &[ALICE]), wrong.clone()];
    assert_eq!(groups(&page.body), expected, "{}", page.body);
    assert!(!page.body.contains("<script>alert"), "{}", page.body);
    assert_eq!(tiles(&page.body), [1, 1, 0, 0]);

    let kept = page.form(&path);
    assert_eq!(kept.iter().find(|(name, _)| name == "addresses").unwrap().1, text, "the text stays in the field");
    app.test.fleet.fail(&his, FailureCode::Crashed, "");
    bob.get_until(&format!("/instances/{his}"), "Failed").await;
    let later = admin.post(&path, &borrowed(&kept)).await;
    let expected = [missing, group("Failed", &[BOB]), group("Ready", &[ALICE]), wrong];
    assert_eq!(groups(&later.body), expected, "{}", later.body);
    assert!(!admin.get(&path).await.body.contains("carol"), "nothing is stored");

    let update = later.body.split("<input type=\"hidden\" name=\"addresses\" ").nth(1).unwrap();
    let sent = format!("value=\"{ALICE}\n{BOB}\ncarol@example.org\ndave@example.org\" hx-post=\"{path}\"");
    assert!(update.starts_with(&sent), "an update sends the addresses: {update}");
    app.finish().await;
}

#[tokio::test]
async fn unusable_lists_of_addresses_are_answered_with_the_form() {
    let app = App::start().await;
    let path = class_of(&app.template("Penguins", |_| {}).await);
    let admin = app.browser(ADMIN);
    for text in ["", " \n,;\t", "<", ">", "@", "<<@>>", "\0", "%", "\u{202e}a@b", &"<".repeat(4000), &",".repeat(4000)]
    {
        let page = admin.post(&path, &[("addresses", text)]).await;
        assert_eq!(page.status, StatusCode::OK, "{text:?}");
        assert!(groups(&page.body).iter().all(|(label, _)| label == "Not an e-mail address"), "{text:?}");
    }
    let people = |count: usize| (0..count).map(|number| format!("student{number}@example.org\n")).collect::<String>();
    let most = admin.post(&path, &[("addresses", &people(1000))]).await;
    assert_eq!((most.status, groups(&most.body)[0].1.len()), (StatusCode::OK, 1000));
    let refused = admin.post(&path, &[("addresses", &people(1001))]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.body.contains("more than 1000 entries") && refused.body.contains("student1000@"),
        "{}",
        refused.body
    );
    assert!(refused.body.contains("aria-invalid=\"true\"") && groups(&refused.body).is_empty());
    let large = admin.post(&path, &[("addresses", &people(10_000))]).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(admin.post(&path, &[("other", "x")]).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    app.finish().await;
}

#[tokio::test]
async fn class_lists_its_instances_by_owner_with_bulk_actions() {
    let app = App::start().await;
    let (template, other) = (app.template("Penguins", |_| {}).await, app.template("Whales", |_| {}).await);
    let mut names = Vec::new();
    for email in [BOB, ALICE] {
        let name = app.browser(email).launch(&template).await;
        app.browser(email).get_until(&format!("/instances/{name}"), "Ready").await;
        names.insert(0, name);
    }
    app.browser(ALICE).launch(&other).await;
    let (admin, path) = (app.browser(ADMIN), class_of(&template));
    let page = admin.get(&path).await;
    assert_eq!(rows(&page.body), names);
    assert!(page.body.contains("<h1><bdi>Penguins</bdi></h1>"), "{}", page.body);

    let bulk = page.form("/admin/instances/bulk");
    assert!(bulk.contains(&("return_to".to_owned(), path.clone())), "{bulk:?}");
    let mut end = borrowed(&bulk);
    end.extend([("action", "end"), ("confirmed", "yes"), ("ticked", names[0].as_str())]);
    let report = admin.post("/admin/instances/bulk", &end).await;
    assert!(report.body.contains(&format!("href=\"{path}\"")), "{}", report.body);
    let is_left = |page: &str| rows(page) == [names[1].as_str()] && tiles(page) == [0, 1, 0, 0];
    eventually(async || is_left(&admin.get(&path).await.body).then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn raised_maximum_is_offered_to_current_workshops_after_saving() {
    let app = App::start().await;
    let template = app.template("Exam", |template| template["max_lifetime_seconds"] = json!(7200)).await;
    let admin = app.browser(ADMIN);
    let (edit, update) = (format!("/admin/templates/{template}/edit"), format!("/admin/templates/{template}"));
    let save = async |maximum: &'static str| {
        let form = admin.get(&edit).await.form(&update);
        admin.post(&update, &with(&form, "max_lifetime_seconds", maximum)).await.location().to_owned()
    };
    let saved = format!("/admin/templates?saved={template}");
    assert_eq!(save("3 h").await, saved, "no workshop runs");
    launch_class(&app, &template, 2).await;
    assert_eq!(save("2 h").await, saved, "a smaller maximum");
    let asks = save("4 h").await;
    let question = admin.get(&asks).await;
    assert!(
        question.body.contains("Apply the maximum lifetime of 4 hours to 2 current workshops?"),
        "{}",
        question.body
    );
    assert!(question.body.contains(&format!("href=\"{saved}\">Only new workshops")), "{}", question.body);
    let apply = format!("/admin/templates/{template}/maximum");
    let form = question.form(&apply);
    assert_eq!(app.browser(ALICE).get(&apply).await.status, StatusCode::FORBIDDEN);
    assert_eq!(app.browser(ALICE).post(&apply, &borrowed(&form)).await.status, StatusCode::FORBIDDEN);
    let list = admin.post(&apply, &borrowed(&form)).await.location().to_owned();
    let list = admin.get(&list).await.body;
    assert!(list.contains("2 workshops have the new maximum lifetime."), "{list}");
    assert_eq!(save("5 h").await.split('?').next(), Some(&*apply));
    let log = admin.get("/admin/activity").await.body;
    assert_eq!(log.matches("raised the maximum lifetime of").count(), 2, "{log}");
    app.finish().await;
}
