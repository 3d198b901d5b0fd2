//! Search and number of matches in the list of all instances.

use http::StatusCode;
use launcher_service::LaunchRequest;

use crate::support::{ADMIN, ALICE, App, BOB};

const LIST: &str = "/admin/instances";

/// Returns the names of the instances in the list, from top to bottom.
fn rows(page: &str) -> Vec<&str> {
    page.split("id=\"row-").skip(1).map(|row| row.split('"').next().unwrap()).collect()
}

fn path(fields: &[(&str, &str)]) -> String {
    format!("{LIST}?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish())
}

#[tokio::test]
async fn search_matches_part_of_owner_template_or_name_literally() {
    let app = App::start().await;
    let (percent, under) = (app.template("100% Whales", |_| {}).await, app.template("a_b Penguins", |_| {}).await);
    let (hers, his) = (app.browser(ALICE).launch(&percent).await, app.browser(BOB).launch(&under).await);
    let admin = app.browser(ADMIN);
    let part_of_name = &his[his.len() - 8..];
    for (text, expected) in [
        ("", vec![&his, &hers]),
        (" LICE@exam ", vec![&hers]),
        ("bob", vec![&his]),
        ("PENG", vec![&his]),
        (part_of_name, vec![&his]),
        ("0%", vec![&hers]),
        ("%", vec![&hers]),
        ("a_b", vec![&his]),
        ("_", vec![&his]),
        ("a%b", vec![]),
        ("a_c", vec![]),
        ("\\", vec![]),
        ("'", vec![]),
        ("!", vec![]),
        ("\0", vec![]),
        ("example.org", vec![&his, &hers]),
    ] {
        let page = admin.get(&path(&[("q", text)])).await;
        assert_eq!(
            (page.status, rows(&page.body)),
            (StatusCode::OK, expected.iter().map(|name| name.as_str()).collect())
        );
        let total = match expected.len() {
            0 => "No instance matches the filter.",
            1 => ">1 instance<",
            _ => ">2 instances<",
        };
        assert!(page.body.contains(total), "{text:?}: {}", page.body);
    }
    let long = "x".repeat(5000);
    assert_eq!(admin.get(&path(&[("q", &long)])).await.status, StatusCode::OK);
    app.finish().await;
}

#[tokio::test]
async fn search_combines_with_filters_and_owner_link() {
    let app = App::start().await;
    let (whales, penguins) = (app.template("Whales", |_| {}).await, app.template("Penguins", |_| {}).await);
    let alice = app.browser(ALICE);
    let (whale, penguin) = (alice.launch(&whales).await, alice.launch(&penguins).await);
    app.browser(BOB).launch(&whales).await;
    let admin = app.browser(ADMIN);
    let found = admin.get(&path(&[("q", "alice"), ("template", &whales)])).await.body;
    assert_eq!(rows(&found), [&whale]);

    let hers = admin.get(&path(&[("owner", ALICE), ("sort", "template")])).await;
    assert_eq!(rows(&hers.body), [&penguin, &whale]);
    assert!(hers.body.contains("Only instances of alice@example.org."), "{}", hers.body);
    let form = hers.form(LIST);
    for (name, value) in [("owner", ALICE), ("sort", "template"), ("q", "")] {
        assert!(form.contains(&(name.to_owned(), value.to_owned())), "the form keeps {name}: {form:?}");
    }
    let part = admin.get(&path(&[("owner", "alice")])).await.body;
    assert!(part.contains("not an e-mail address") && rows(&part).len() == 3, "an owner is an exact address: {part}");
    app.finish().await;
}

#[tokio::test]
async fn number_of_matches_and_search_hold_on_each_page_of_the_list() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await.parse().unwrap();
    for _ in 0..120 {
        app.test.launcher.launch(&app.admin(), template, &LaunchRequest::default()).await.unwrap();
    }
    app.browser(ALICE).launch(&template.to_string()).await;
    let admin = app.browser(ADMIN);
    let first = admin.get(&path(&[("q", "admin@")])).await.body;
    let older = first.split("<a class=\"button\" href=\"").find(|part| part.contains(">Older</a>")).unwrap();
    let second = admin.get(&older.split('"').next().unwrap().replace("&#38;", "&")).await.body;
    assert_eq!((rows(&first).len(), rows(&second).len()), (100, 20));
    for page in [first, second] {
        assert!(page.contains(">120 instances<"), "{page}");
    }
    app.finish().await;
}
