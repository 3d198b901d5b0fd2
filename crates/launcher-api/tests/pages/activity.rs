//! The activity log from an admin's view.

use http::StatusCode;
use launcher_domain::{EmailAddress, FailureCode};
use launcher_service::{LaunchRequest, TemplateUpdate};
use uuid::Uuid;

use crate::support::{ADMIN, ALICE, Answer, App, BOB, borrowed};

const LOG: &str = "/admin/activity";

/// Returns the sentences of the page, without markup and times, newest first.
fn sentences(page: &Answer) -> Vec<String> {
    let items = page.body.split("<li><p>").skip(1).map(|item| item.split("</p>").next().unwrap());
    let plain = |item: &str| item.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    let sentence = |item: &str| -> String {
        let (words, time) = item.split_once("<time").unwrap_or((item, ""));
        let text: String = plain(words);
        if time.is_empty() { text } else { format!("{text}TIME.") }
    };
    items.map(|item| sentence(item).replace("&#39;", "'")).collect()
}

#[tokio::test]
async fn activity_entry_is_sentence_with_time() {
    let app = App::start().await;
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    assert!(admin.get(LOG).await.body.contains("No activity found."));
    let template = app.template("Penguins", |_| {}).await;
    let name = alice.launch(&template).await;
    let extend = format!("/instances/{name}/extend");
    let form = alice.get_until("/", "Ready").await.form(&extend);
    alice.post(&extend, &borrowed(&form)).await.location();
    admin.post(&format!("/instances/{name}/end"), &[]).await.location();

    let page = admin.get(LOG).await;
    let expected = [
        format!("{ADMIN} ended {ALICE}'s Penguins ({name})."),
        format!("{ALICE} extended Penguins ({name}) until TIME."),
        format!("{ALICE} launched Penguins ({name})."),
        format!("{ADMIN} created the template Penguins."),
    ];
    assert_eq!(sentences(&page), expected);
    assert_eq!(page.body.matches("<time class=\"muted\" datetime=\"").count(), 4);
    let links = [format!("href=\"/instances/{name}\""), format!("href=\"/admin/templates/{template}/edit\"")];
    assert!(links.iter().all(|link| page.body.contains(link)), "{}", page.body);
    app.finish().await;
}

#[tokio::test]
async fn activity_entry_without_actor_shows_cause() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let mut names = Vec::new();
    for _ in 0..3 {
        let name = alice.launch(&template).await;
        alice.get_until(&format!("/instances/{name}"), "Ready").await;
        names.push(name);
    }
    let [expired, lost, failed] = &names[..] else { panic!("{names:?}") };
    app.test.fleet.expire(expired);
    alice.get_until("/history", expired).await;
    app.test.fleet.remove_workshop(lost);
    alice.get_until("/history", lost).await;
    app.test.fleet.fail(failed, FailureCode::Crashed, "");
    alice.get_until(&format!("/instances/{failed}"), "Failed").await;
    app.browser(ADMIN).post(&format!("/instances/{failed}/end"), &[]).await.location();

    let told = sentences(&app.browser(ADMIN).get(LOG).await);
    let expected = [
        format!("{ADMIN} dismissed {ALICE}'s Penguins ({failed}), which had failed."),
        format!("{ALICE}'s Penguins ({failed}) failed. The workshop's program stopped unexpectedly."),
        format!("{ALICE}'s Penguins ({lost}) ended. The server lost it, or an administrator removed it."),
        format!("{ALICE}'s Penguins ({expired}) ended. Its time was up."),
    ];
    assert_eq!(told[..4], expected);
    app.finish().await;
}

#[tokio::test]
async fn template_change_entry_names_changed_fields() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let seed = serde_json::json!({"name": "Seed", "app_type": "notebook", "image": "x"});
    let by = EmailAddress::parse("seed@launcher.invalid").unwrap();
    app.test.launcher.seed_template(Uuid::from_u128(7), seed.as_object().unwrap(), by).await.unwrap();
    let list = admin.get("/admin/templates").await.body;
    assert!(list.contains("created by the service") && !list.contains("launcher.invalid"), "{list}");
    let action = format!("/admin/templates/{}", Uuid::from_u128(7));
    let form = admin.get(&format!("{action}/edit")).await.form(&action);
    let changed: Vec<(&str, &str)> = borrowed(&form)
        .into_iter()
        .map(|(name, value)| (name, if name == "image" { "y:2" } else { value }))
        .map(|(name, value)| (name, if name == "lifetime_seconds" { "3600" } else { value }))
        .collect();
    admin.post(&action, &changed).await.location();
    for verb in ["archive", "archive", "restore"] {
        admin.post(&format!("{action}/{verb}"), &[]).await.location();
    }
    let told = sentences(&admin.get(LOG).await);
    let expected = [
        format!("{ADMIN} restored the template Seed."),
        format!("{ADMIN} archived the template Seed."),
        format!("{ADMIN} changed the template Seed: Image, Lifetime."),
        "The service created the template Seed.".to_owned(),
    ];
    assert_eq!(told, expected);
    app.finish().await;
}

#[tokio::test]
async fn changed_fields_have_the_labels_of_the_editor_in_each_language() {
    let app = App::start().await;
    let (admin, template) = (app.browser(ADMIN), app.template("Penguins", |_| {}).await);
    let (id, edit) = (template.parse().unwrap(), format!("/admin/templates/{template}/edit"));
    let body = serde_json::json!({
        "name": "Whales", "description": "x", "app_type": "rstudio", "image": "y:2", "port": 1234,
        "command": ["a"], "args": ["b"], "env": {"A": "1"}, "resources": {"cpu_limit": "3"},
        "security_profile": "baseline", "pod_template": {"spec": {"nodeSelector": {"a": "b"}}}, "lifetime_seconds": 60, "extension_seconds": 120, "max_lifetime_seconds": 600,
        "tags": ["x"], "icon": "code", "color": "blue", "unlisted": true, "slug": "whales"
    });
    let update = TemplateUpdate { body: body.as_object().cloned().unwrap(), expected_version: None };
    app.test.launcher.update_template(&app.admin(), id, update).await.unwrap();
    let names = "name, description, app_type, image, port, command, args, env, resources, security_profile, \
                 pod_template, lifetime_seconds, extension_seconds, max_lifetime_seconds, tags, icon, color, unlisted, slug";
    for (code, separator, resources) in [
        ("en", ", ", "CPU and memory"),
        ("de", ", ", "CPU und Arbeitsspeicher"),
        ("fr", ", ", "CPU et mémoire"),
        ("es", ", ", "CPU y memoria"),
        ("zh", "、", "CPU 和内存"),
        ("ar", "، ", "CPU والذاكرة"),
    ] {
        let read =
            async |path: &str| Answer::of(admin.request(http::Method::GET, path).header("accept-language", code)).await;
        let editor = read(&edit).await.body;
        let label = |name: &str| {
            let label = editor.split(&format!("<label for=\"field-{name}\">")).nth(1);
            let list = editor.split(&format!("id=\"rows-{name}\" role=\"group\" aria-label=\"")).nth(1);
            label.or(list).map_or(resources, |rest| rest.split(['<', '"']).next().unwrap())
        };
        let labels: Vec<&str> = names.split(", ").map(label).collect();
        // Marks of the text direction, which Arabic pages contain.
        let told = read(LOG).await;
        let told = Answer { body: told.body.replace(['\u{2068}', '\u{2069}'], ""), ..told };
        let told = sentences(&told);
        assert!(told[0].contains(&labels.join(separator).replace("&#39;", "'")), "{code}: {told:?} {labels:?}");
    }
    let api = Answer::of(admin.request(http::Method::GET, "/api/v1/activity/")).await.body;
    assert!(api.contains(names), "the API names the fields in English: {api}");
    app.finish().await;
}

#[tokio::test]
async fn activity_page_filters_by_person_and_is_paged() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let mine = app.template("Penguins", |_| {}).await;
    for _ in 0..101 {
        app.test.launcher.launch(&app.admin(), mine.parse().unwrap(), &LaunchRequest::default()).await.unwrap();
    }
    let his = app.browser(BOB).launch(&mine).await;
    let of_bob = admin.get(&format!("{LOG}?person=%20BOB@example.org")).await;
    assert_eq!(sentences(&of_bob), [format!("{BOB} launched Penguins ({his}).")]);
    assert!(!of_bob.body.contains(">Older</a>"));
    let no_entries = admin.get(&format!("{LOG}?person=carol@example.org")).await;
    assert!(no_entries.body.contains("No activity found."));
    let wrong = admin.get(&format!("{LOG}?person=bob")).await;
    assert!(wrong.body.contains("This is not an e-mail address") && sentences(&wrong).len() == 100);

    let newest = admin.get(&format!("{LOG}?person={ADMIN}")).await;
    let older = newest.body.split("<a class=\"button\" href=\"").find(|part| part.contains(">Older</a>")).unwrap();
    let older = older.split('"').next().unwrap().replace("&#38;", "&");
    let oldest = admin.get(&older).await;
    assert!(!oldest.body.contains(">Older</a>"));
    let told = [sentences(&newest), sentences(&oldest)].concat();
    assert_eq!(told.len(), 102, "101 launches and a template");
    assert_eq!(told[101], format!("{ADMIN} created the template Penguins."));
    assert_eq!(app.browser(ALICE).get(LOG).await.status, StatusCode::FORBIDDEN);
    app.finish().await;
}
