//! `GET /instances/`: scope, filters and pagination.

use launcher_testkit::{Client, Options, TestApp, Users};
use serde_json::Value;

async fn names(person: &Client, query: &str) -> Vec<String> {
    let list = person.get(&format!("/instances/{query}")).await.expect(200).json();
    let name = |instance: &Value| instance["k8s_name"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

#[tokio::test]
async fn instance_list_is_scoped_to_caller_newest_first() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let (one, two) = (app.template(&admin).await, app.template(&admin).await);
    let first = app.launched(&alice, &one, "running").await;
    let second = app.launched(&bob, &one, "running").await;
    let third = app.launched(&alice, &two, "running").await;
    assert_eq!(names(&alice, "").await, [third.clone(), first.clone()]);
    assert_eq!(names(&bob, "").await, std::slice::from_ref(&second));
    assert_eq!(names(&admin, "").await, [third.clone(), second.clone(), first.clone()]);
    assert_eq!(names(&admin, "?owner_email=ALICE%40example.org").await, [third.clone(), first.clone()]);
    assert_eq!(names(&admin, &format!("?template_id={one}")).await, [second.clone(), first.clone()]);
    let both = format!("?template_id={one}&owner_email=alice%40example.org");
    assert_eq!(names(&admin, &both).await, std::slice::from_ref(&first));
    app.finish().await;
}

#[tokio::test]
async fn instance_list_filters_by_state() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let ended = app.launched(&alice, &template, "running").await;
    alice.delete(&format!("/instances/{ended}")).await.expect(202);
    app.reaches(&alice, &ended, "terminated").await;
    let live = app.launched(&alice, &template, "running").await;
    let (live, ended) = ([live.clone()], [ended]);
    for (query, wanted) in [
        ("", &live[..]),
        ("?state=live", &live),
        ("?state=running", &live),
        ("?state=ended", &ended),
        ("?state=terminated", &ended),
        ("?state=queued", &[]),
        ("?state=starting", &[]),
        ("?state=terminating", &[]),
        ("?state=failed", &[]),
    ] {
        assert_eq!(names(&alice, query).await, wanted, "{query}");
    }
    assert_eq!(names(&alice, "?state=all").await, [&live[..], &ended].concat());
    app.finish().await;
}

#[tokio::test]
async fn instance_list_search_finds_parts_within_the_callers_scope() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let hers = app.launched(&alice, &template, "running").await;
    let his = app.launched(&bob, &template, "running").await;
    let part_of_name = format!("?search={}", &hers[hers.len() - 8..]);
    for (query, wanted) in [
        ("?search=LICE%40exam", vec![&hers]),
        ("?search=%20bob%20", vec![&his]),
        ("?search=istics+101", vec![&his, &hers]),
        (&part_of_name, vec![&hers]),
        ("?search=", vec![&his, &hers]),
        ("?search=%25", vec![]),
        ("?search=alice&state=ended", vec![]),
        ("?search=example.org&owner_email=bob%40example.org", vec![&his]),
    ] {
        assert_eq!(names(&admin, query).await.iter().collect::<Vec<_>>(), wanted, "{query}");
    }
    assert_eq!(names(&alice, "?search=example.org").await, std::slice::from_ref(&hers));
    assert!(names(&alice, "?search=bob").await.is_empty(), "a search stays within the scope of its caller");

    let page = admin.get("/instances/?search=statistics+101&limit=1").await.expect(200);
    assert!(page.header("link").starts_with("</api/v1/instances/?search=statistics+101&limit=1&cursor="));
    let longest = "ü".repeat(100);
    let longest: String = form_urlencoded::byte_serialize(longest.as_bytes()).collect();
    assert!(names(&admin, &format!("?search={longest}")).await.is_empty());
    app.finish().await;
}

#[tokio::test]
async fn instance_list_search_examines_only_the_newest_instances() {
    let options = Options { max_examined: Some(1), ..Options::default() };
    let Users { app, alice, bob, admin, .. } = TestApp::start_with(options).await;
    let template = app.template(&admin).await;
    let hers = app.launched(&alice, &template, "running").await;
    let his = app.launched(&bob, &template, "running").await;
    assert_eq!(names(&admin, "?search=example.org").await, [his]);
    assert!(names(&admin, "?search=alice").await.is_empty());
    assert_eq!(names(&admin, "?search=alice&owner_email=alice%40example.org").await, [hers]);
    app.finish().await;
}

#[tokio::test]
async fn instance_list_pages_return_each_instance_once() {
    let Users { app, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let mut launched = Vec::new();
    for _ in 0..5 {
        launched.push(app.launched(&admin, &template, "running").await);
    }
    launched.reverse();
    let mut query = "?state=all&limit=2&owner_email=admin%40example.org".to_owned();
    let mut sizes = Vec::new();
    let mut seen = Vec::new();
    loop {
        let page = admin.get(&format!("/instances/{query}")).await.expect(200);
        let list = page.json();
        let list = list.as_array().unwrap();
        sizes.push(list.len());
        seen.extend(list.iter().map(|instance| instance["k8s_name"].as_str().unwrap().to_owned()));
        let link = page.header("link").to_owned();
        if link.is_empty() {
            break;
        }
        let next = link.strip_prefix("</api/v1/instances/").unwrap().strip_suffix(">; rel=\"next\"").unwrap();
        assert!(next.starts_with("?state=all&limit=2&owner_email=admin%40example.org&cursor="), "{next}");
        assert_eq!(next.matches("cursor=").count(), 1);
        query = next.to_owned();
    }
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(seen, launched);
    assert_eq!(admin.get("/instances/?limit=5").await.header("link"), "", "the last page ends exactly");
    app.finish().await;
}

#[tokio::test]
async fn instance_list_refuses_invalid_parameters() {
    let Users { app, alice, admin, .. } = TestApp::start_with(Options::default()).await;
    for (query, pointer) in [
        ("limit=0", "/limit"),
        ("limit=501", "/limit"),
        ("limit=+5", "/limit"),
        ("limit=", "/limit"),
        ("limit=ten", "/limit"),
        ("limit=1&limit=2", "/limit"),
        ("cursor=1", "/cursor"),
        ("cursor=00000000-0000-0000-0000-000000000000", "/cursor"),
        ("state=ending", "/state"),
        ("state=", "/state"),
        ("status=live", "/status"),
        ("owner_email=nobody", "/owner_email"),
        ("template_id=7", "/template_id"),
        ("search=a&search=b", "/search"),
        (&format!("search={}", "x".repeat(101)), "/search"),
        ("page=2", "/page"),
    ] {
        let reply = admin.get(&format!("/instances/?{query}")).await.expect(422);
        assert_eq!(reply.code(), "invalid-parameters");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{query}");
    }
    for query in ["owner_email=alice%40example.org", "template_id=01890000-0000-7000-8000-000000000000"] {
        assert_eq!(alice.get(&format!("/instances/?{query}")).await.expect(403).code(), "admin-only");
    }
    assert_eq!(admin.get("/templates/?state=all").await.expect(422).code(), "invalid-parameters");
    app.finish().await;
}
