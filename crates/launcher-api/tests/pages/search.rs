//! Search and number of matches in the list of all instances.

use http::StatusCode;
use launcher_service::LaunchRequest;
use launcher_testkit::Options;

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

#[tokio::test]
async fn page_says_that_older_instances_were_not_searched() {
    let app = App::with(Options { max_examined: Some(2), ..Options::default() }).await;
    let (whales, penguins) = (app.template("Whales", |_| {}).await, app.template("Penguins", |_| {}).await);
    let whale = app.browser(ALICE).launch(&whales).await;
    for _ in 0..2 {
        app.browser(ALICE).launch(&penguins).await;
    }
    let admin = app.browser(ADMIN);
    let note = "The search includes only the newest 2 instances. To search older ones, choose a template.";
    let page = admin.get(&path(&[("q", "whales")])).await.body;
    assert!(
        rows(&page).is_empty() && page.contains("No instance matches the filter.") && page.contains(note),
        "{page}"
    );
    let page = admin.get(&path(&[("q", "alice")])).await.body;
    assert!(rows(&page).len() == 2 && page.contains("2 among the newest 2 instances"), "{page}");
    assert!(page.contains(note), "{page}");

    let page = admin.get(&path(&[("q", "alice"), ("template", &whales)])).await.body;
    assert!(rows(&page) == [&whale] && !page.contains(note), "all instances of the template are searched: {page}");
    let page = admin.get(&path(&[])).await.body;
    assert!(rows(&page).len() == 3 && !page.contains(note), "a list without a search shows all instances: {page}");
    app.finish().await;
}

#[tokio::test]
async fn search_of_ended_instances_is_updated_less_often() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let interval = async |fields: &[(&str, &str)]| {
        let page = admin.get(&path(fields)).await.body;
        let trigger =
            page.split("throttle:").nth(1).unwrap().split("s, every ").map(|text| text.split('s').next().unwrap());
        trigger.map(|seconds| seconds.parse().unwrap()).take(2).collect::<Vec<u32>>()
    };
    let often = interval(&[]).await;
    for fields in [&[("q", "alice")][..], &[("state", "ended")], &[("q", "alice"), ("state", "running")]] {
        assert_eq!(interval(fields).await, often, "{fields:?}");
    }
    for state in ["ended", "all", "terminated"] {
        let rarely = interval(&[("q", "alice"), ("state", state)]).await;
        assert!(rarely.iter().zip(&often).all(|(rare, often)| rare > often), "{state}: {rarely:?}, {often:?}");
    }
    app.finish().await;
}
