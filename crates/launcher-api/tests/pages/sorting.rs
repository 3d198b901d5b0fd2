//! The list of all instances, sorted by a column.

use http::StatusCode;
use launcher_service::LaunchRequest;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

const LIST: &str = "/admin/instances";

/// Returns the names of the instances in the list, from top to bottom.
fn rows(page: &str) -> Vec<&str> {
    page.split("id=\"row-").skip(1).map(|row| row.split('"').next().unwrap()).collect()
}

/// Returns the head of a column: its HTML element with the content.
fn head<'p>(page: &'p str, label: &str) -> &'p str {
    let heads = page.split("<thead>").nth(1).unwrap().split("</thead>").next().unwrap();
    heads.split("<th ").find(|head| head.contains(&format!(">{label}"))).unwrap()
}

/// Returns the link in the head of a column.
fn href(page: &str, label: &str) -> String {
    let link = head(page, label).split("href=\"").nth(1).unwrap_or_else(|| panic!("{label} is no link: {page}"));
    link.split('"').next().unwrap().replace("&#38;", "&")
}

/// Starts an application with three instances, launched in this order: Alice's whale, Bob's penguin, Alice's penguin.
async fn three() -> (App, [String; 3]) {
    let app = App::start().await;
    let (whales, penguins) = (app.template("Whales", |_| {}).await, app.template("penguins", |_| {}).await);
    let mut names = Vec::new();
    for (who, template) in [(ALICE, &whales), (BOB, &penguins), (ALICE, &penguins)] {
        let name = app.browser(who).launch(template).await;
        app.browser(who).get_until(&format!("/instances/{name}"), "Ready").await;
        names.push(name);
    }
    (app, names.try_into().unwrap())
}

#[tokio::test]
async fn column_head_sorts_list_and_second_click_reverses_order() {
    let (app, [whale, bobs, penguin]) = three().await;
    let admin = app.browser(ADMIN);
    let list = admin.get(LIST).await.body;
    assert_eq!(rows(&list), [&penguin, &bobs, &whale], "the newest first");
    assert!(head(&list, "Launched").contains("aria-sort=\"descending\""), "{list}");
    assert_eq!(list.matches("aria-sort=").count(), 1, "{list}");

    for (label, first, second) in [
        ("Owner", [&penguin, &whale, &bobs], [&bobs, &penguin, &whale]),
        ("Template", [&penguin, &bobs, &whale], [&whale, &penguin, &bobs]),
        ("State", [&penguin, &bobs, &whale], [&penguin, &bobs, &whale]),
        ("Ends", [&whale, &bobs, &penguin], [&penguin, &bobs, &whale]),
    ] {
        let sorted = admin.get(&href(&list, label)).await.body;
        assert_eq!(rows(&sorted), first, "{label}");
        assert!(head(&sorted, label).contains("aria-sort=\"ascending\""), "{label}: {sorted}");
        let turned = admin.get(&href(&sorted, label)).await.body;
        assert_eq!(rows(&turned), second, "{label}");
        assert!(head(&turned, label).contains("aria-sort=\"descending\""), "{label}: {turned}");
    }
    let oldest = admin.get(&href(&list, "Launched")).await.body;
    assert_eq!(rows(&oldest), [&whale, &bobs, &penguin]);
    app.finish().await;
}

#[tokio::test]
async fn instance_filter_and_bulk_action_keep_sort_order() {
    let (app, [whale, _, penguin]) = three().await;
    let admin = app.browser(ADMIN);
    let filtered = admin.get(&format!("{LIST}?owner={ALICE}")).await.body;
    let here = href(&filtered, "Template");
    let page = admin.get(&here).await;
    assert_eq!(rows(&page.body), [&penguin, &whale], "the order keeps the filter");

    let form = page.form(LIST);
    assert!(form.contains(&("sort".to_owned(), "template".to_owned())), "the filter keeps the order: {form:?}");
    let bulk = page.form("/admin/instances/bulk");
    assert!(bulk.contains(&("return_to".to_owned(), here.clone())), "{bulk:?}");
    let mut end = borrowed(&bulk);
    end.extend([("action", "end"), ("ticked", whale.as_str())]);
    let question = admin.post("/admin/instances/bulk", &end).await;
    assert_eq!(question.status, StatusCode::OK);
    assert!(question.form("/admin/instances/bulk").contains(&("return_to".to_owned(), here)), "{}", question.body);
    app.finish().await;
}

#[tokio::test]
async fn sorted_instance_list_keeps_order_across_pages() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await.parse().unwrap();
    let (admin, mut names) = (app.browser(ADMIN), Vec::new());
    for _ in 0..120 {
        let launched = app.test.launcher.launch(&app.admin(), template, &LaunchRequest::default()).await.unwrap();
        names.push(launched.listed.instance.k8s_name);
    }
    let mut seen = Vec::new();
    let mut next = Some(format!("{LIST}?sort=owner"));
    while let Some(path) = next {
        let page = admin.get(&path).await.body;
        seen.extend(rows(&page).into_iter().map(str::to_owned));
        let more = page.split("<a class=\"button\" href=\"").find(|part| part.contains(">More</a>"));
        next = more.map(|more| more.split('"').next().unwrap().replace("&#38;", "&"));
    }
    assert_eq!(seen, names.into_iter().rev().collect::<Vec<_>>(), "all are of one owner: the newest first");
    app.finish().await;
}

#[tokio::test]
async fn list_with_terminated_instances_sorts_by_launch_only() {
    let (app, [whale, bobs, penguin]) = three().await;
    let admin = app.browser(ADMIN);
    for state in ["all", "ended", "terminated"] {
        let page = admin.get(&format!("{LIST}?state={state}&sort=owner")).await.body;
        if state == "all" {
            assert_eq!(rows(&page), [&penguin, &bobs, &whale]);
            assert!(head(&page, "Launched").contains("aria-sort=\"descending\""), "{page}");
            assert!(!head(&page, "Owner").contains("href") && head(&page, "Launched").contains("href"), "{page}");
        } else {
            assert_eq!((rows(&page).len(), page.contains("No instance matches the filter.")), (0, true));
        }
    }
    let nonsense = admin.get(&format!("{LIST}?sort=secret&after=x")).await;
    assert_eq!((nonsense.status, rows(&nonsense.body).len()), (StatusCode::OK, 3));
    app.finish().await;
}
