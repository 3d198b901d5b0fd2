//! Links that add a repository to a template with launch parameters.

use http::{Method, StatusCode};
use launcher_testkit::eventually;
use serde_json::{Value, json};

use crate::support::{ALICE, Answer, App, borrowed, with};

const REPOSITORY: &str = "<bdi>https://git.example.org/team/ex-1.git</bdi>";
const LINK: &str = "repo=https://git.example.org/team/ex-1.git&ref=main&path=week%201";

fn with_repositories(template: &mut Value) {
    template["material"] = json!({ "allowed_repositories": ["https://git.example.org/team/"] });
}

fn with_size(template: &mut Value) {
    with_repositories(template);
    template["parameters"] = json!([{ "name": "SIZE", "label": "Size", "kind": "number", "max": 100 }]);
}

fn value<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    form.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn refused_form_has_the_repository_and_the_value_of_the_link() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let launch = format!("/launch/{}", app.template("Penguins", with_size).await);
    let page = alice.get(&format!("{launch}?{LINK}&p.SIZE=5&start=1")).await;
    assert_eq!(page.status, StatusCode::OK, "the reader must confirm the link");
    let form = page.form(&launch);
    assert_eq!(value(&form, "p.SIZE"), Some("5"));

    let refused = alice.post(&launch, &with(&form, "p.SIZE", "500")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("At most 100.") && refused.body.contains(REPOSITORY), "{}", refused.body);
    let form = refused.form(&launch);
    assert_eq!(value(&form, "p.SIZE"), Some("500"));

    let launched = alice.post(&launch, &with(&form, "p.SIZE", "50")).await;
    let name = launched.location().split('/').nth(2).unwrap().to_owned();
    let workshop = eventually(async || app.test.fleet.workshop(&name)).await;
    assert_eq!(workshop.spec.env.get("SIZE").map(String::as_str), Some("50"));
    let material = workshop.spec.material.unwrap();
    assert_eq!(material.sources[0].folder.as_deref(), Some("week 1"));
    app.finish().await;
}

#[tokio::test]
async fn refused_launch_keeps_the_repository_of_a_form_without_fields() {
    let app = App::with_limit(1).await;
    let alice = app.browser(ALICE);
    let launch = format!("/launch/{}", app.template("Penguins", with_repositories).await);
    let form = alice.get(&format!("{launch}?{LINK}")).await.form(&launch);
    alice.launch(&app.template("Gulls", |_| {}).await).await;
    let refused = alice.post(&launch, &borrowed(&form)).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("role=\"alert\"") && refused.body.contains(REPOSITORY), "{}", refused.body);
    let again = refused.form(&launch);
    for field in ["repo", "ref", "path"] {
        assert_eq!(value(&again, field), value(&form, field), "{field}");
    }
    app.finish().await;
}

#[tokio::test]
async fn button_of_an_old_page_opens_the_form_with_the_repository() {
    let app = App::start().await;
    let launch = format!("/launch/{}", app.template("Penguins", with_size).await);
    let sent = [("repo", "https://git.example.org/team/ex-1.git"), ("ref", "main"), ("path", "week 1")];
    // The template got a required parameter after the page was rendered.
    let stale = app.browser(ALICE).with_htmx().post(&launch, &sent).await;
    let form = app.browser(ALICE).get(stale.header("hx-redirect")).await.form(&launch);
    assert_eq!(value(&form, "repo"), Some("https://git.example.org/team/ex-1.git"));
    assert_eq!((value(&form, "ref"), value(&form, "path")), (Some("main"), Some("week 1")));
    app.finish().await;
}

#[tokio::test]
async fn limit_on_the_page_of_a_template_lists_the_workshops_with_their_buttons() {
    let app = App::with_limit(1).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Gulls", |_| {}).await).await;
    alice.get_until("/", "Ready").await;
    let launch = format!("/launch/{}", app.template("Penguins", |_| {}).await);
    let end = format!("href=\"/instances/{name}/end?return_to={}\"", launch.replace('/', "%2F"));
    let open = format!("href=\"http://{name}.workshops.test/_launcher/frame\"");
    let by_htmx = async |page: &str| {
        let shown = format!("http://localhost{page}");
        let request = alice.with_htmx().request(Method::POST, &launch).header("sec-fetch-site", "same-origin");
        Answer::of(request.header("hx-current-url", shown).form(&[("return_to", "/")])).await
    };
    let refused = by_htmx(&launch).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let (notice, _) = refused.body.split_once("</ul>").unwrap();
    assert!(
        notice.contains("id=\"notice\" hx-swap-oob") && notice.contains(&end) && notice.contains(&open),
        "{notice}"
    );
    let home = by_htmx("/").await.body;
    assert!(!home.contains(&end), "the start page has the list below the notice: {home}");
    let without_scripts = alice.post(&launch, &[("return_to", "/")]).await;
    assert_eq!(without_scripts.status, StatusCode::CONFLICT);
    assert!(without_scripts.body.contains(&format!("action=\"/instances/{name}/end\"")), "{}", without_scripts.body);
    app.finish().await;
}
