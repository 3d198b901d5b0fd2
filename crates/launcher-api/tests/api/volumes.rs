//! `/volumes/`: kept files of users.

use http::Method;
use launcher_domain::FailureCode;
use launcher_service::Limits;
use launcher_testkit::{Client, Options, TestApp, Users, eventually};
use serde_json::{Value, json};

async fn template(admin: &Client, name: &str, storage: &Value) -> String {
    let body = json!({ "name": name, "app_type": "notebook", "image": "example.org/image", "storage": storage });
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    created["template_id"].as_str().unwrap().to_owned()
}

async fn end(app: &TestApp, person: &Client, name: &str) {
    person.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(person, name, "terminated").await;
}

#[tokio::test]
async fn storage_of_template_is_read_back_with_defaults_and_can_be_removed() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let id = template(&admin, "Penguins", &json!({ "kind": "home" })).await;
    let path = format!("/templates/{id}");
    let expected = json!({ "kind": "home", "size": "1Gi", "path": "/home/jovyan", "at_expiry": "end" });
    assert_eq!(alice.get(&path).await.expect(200).json()["storage"], expected);
    let patch = json!({ "storage": { "size": "5Gi" } });
    let patched = admin.request(Method::PATCH, &format!("/api/v1{path}")).json(&patch).send().await.unwrap();
    let patched: Value = patched.json().await.unwrap();
    assert_eq!(
        patched["storage"],
        json!({ "kind": "home", "size": "5Gi", "path": "/home/jovyan", "at_expiry": "end" })
    );
    let removal = json!({ "storage": null });
    admin.request(Method::PATCH, &format!("/api/v1{path}")).json(&removal).send().await.unwrap();
    assert_eq!(alice.get(&path).await.expect(200).json()["storage"], Value::Null);
    app.finish().await;
}

#[tokio::test]
async fn files_that_only_survive_a_crash_are_no_volume() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let id = template(&admin, "Penguins", &json!({ "kind": "workshop" })).await;
    let storage = alice.get(&format!("/templates/{id}")).await.expect(200).json()["storage"].clone();
    assert_eq!((&storage["kind"], &storage["path"]), (&json!("workshop"), &json!("/home/jovyan")));
    let name = app.launched(&alice, &id, "running").await;
    assert_eq!(alice.get(&format!("/instances/{name}")).await.expect(200).json()["volume"], Value::Null);
    assert_eq!(alice.get("/volumes/").await.expect(200).json(), json!([]));
    app.finish().await;
}

#[tokio::test]
async fn invalid_storage_is_refused_with_its_location() {
    let Users { app, admin, .. } = TestApp::start().await;
    for (storage, pointer) in [
        (json!({ "kind": "none" }), "/storage/kind"),
        (json!({ "kind": "kept", "size": "a lot" }), "/storage/size"),
        (json!({ "kind": "kept", "path": "/etc" }), "/storage/path"),
        (json!({ "kind": "kept", "class": "fast" }), "/storage/class"),
        (json!({ "kind": "kept", "at_expiry": "never" }), "/storage/at_expiry"),
        (json!({}), "/storage"),
    ] {
        let body = json!({ "name": "a", "app_type": "notebook", "image": "b", "storage": storage });
        let refused = admin.post_json("/templates/", &body).await.expect(422).json();
        assert!(refused["errors"][0]["pointer"].as_str().unwrap().starts_with(pointer), "{refused}");
    }
    app.finish().await;
}

#[tokio::test]
async fn volume_is_listed_for_its_owner_and_admins_and_deleted_once() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let id = template(&admin, "Penguins", &json!({ "kind": "kept", "size": "2Gi" })).await;
    let name = app.launched(&alice, &id, "running").await;
    let instance = alice.get(&format!("/instances/{name}")).await.expect(200).json();
    let volume = instance["volume"].as_str().unwrap().to_owned();

    let listed = alice.get("/volumes/").await.expect(200).json();
    assert_eq!(listed[0]["name"], volume);
    assert_eq!(listed[0]["used_by"], name);
    assert_eq!(listed[0]["deleted_after"], Value::Null, "a volume in use is not about to be deleted");
    assert_eq!(listed[0]["template_name"], "Penguins");
    assert_eq!(listed[0]["size"], "2Gi");
    assert_eq!(bob.get("/volumes/").await.expect(200).json(), json!([]));
    assert_eq!(admin.get("/volumes/").await.expect(200).json()[0]["owner_email"], "alice@example.org");

    let path = format!("/volumes/{volume}");
    let in_use = alice.delete(&path).await.expect(409).json();
    assert_eq!(in_use["code"], "volume-in-use");
    assert!(in_use["detail"].as_str().unwrap().contains(&name), "{in_use}");
    let refused = alice.post(&format!("/templates/{id}/launch")).await.expect(409).json();
    assert_eq!(refused["code"], "volume-in-use");

    end(&app, &alice, &name).await;
    let unused = &alice.get("/volumes/").await.expect(200).json()[0];
    assert_eq!(unused["used_by"], Value::Null);
    assert!(unused["deleted_after"].as_str() > unused["last_used_at"].as_str(), "{unused}");
    let missing = bob.delete("/volumes/work-aaaaaaaaaa").await.expect(404);
    assert_eq!(bob.delete(&path).await.expect(404).body, missing.body, "it does not reveal that the volume exists");
    alice.delete(&path).await.expect(204);
    alice.delete(&path).await.expect(404);
    eventually(async || app.fleet.volumes().is_empty().then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn launch_beyond_the_storage_limit_of_a_user_is_refused() {
    let limits = Limits { max_storage_gib_per_user: Some(3), ..Limits::default() };
    let Users { app, alice, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
    let first = template(&admin, "Penguins", &json!({ "kind": "kept", "size": "2Gi" })).await;
    let second = template(&admin, "Whales", &json!({ "kind": "kept", "size": "2Gi" })).await;
    app.launched(&alice, &first, "running").await;
    let refused = alice.post(&format!("/templates/{second}/launch")).await.expect(409).json();
    assert_eq!(refused["code"], "storage-limit-reached");
    assert!(refused["detail"].as_str().unwrap().contains("3 GiB in total"), "{refused}");
    assert_eq!(alice.get("/volumes/").await.expect(200).json().as_array().unwrap().len(), 1);
    for id in [&first, &second] {
        app.launched(&admin, id, "running").await;
    }
    app.finish().await;
}

#[tokio::test]
async fn volumes_are_listed_in_pages() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    for number in 0..3 {
        let id = template(&admin, &format!("Course {number}"), &json!({ "kind": "kept" })).await;
        app.launched(&alice, &id, "running").await;
    }
    let first = alice.get("/volumes/?limit=2").await.expect(200);
    assert_eq!(first.json().as_array().unwrap().len(), 2);
    let link = first.header("link").to_owned();
    let next = link.split(['<', '>']).nth(1).unwrap();
    assert_eq!(alice.page(next).await.expect(200).json()[0]["template_name"], "Course 0");
    alice.get("/volumes/?owner=alice").await.expect(422);
    app.finish().await;
}

#[tokio::test]
async fn remedy_of_failed_instance_says_that_files_are_kept() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let without = app.template(&admin).await;
    let with = template(&admin, "Penguins", &json!({ "kind": "kept" })).await;
    for (id, remedy) in [(without, "are lost"), (with, "are kept")] {
        let name = app.launched(&alice, &id, "running").await;
        app.fleet.fail(&name, FailureCode::OutOfMemory, "");
        let failed = app.reaches(&alice, &name, "failed").await;
        assert!(failed["reason"]["remedy"].as_str().unwrap().contains(remedy), "{failed}");
    }
    app.finish().await;
}

#[tokio::test]
async fn download_is_an_archive_for_owner_and_admin() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let id = template(&admin, "Penguins: part 1", &json!({ "kind": "kept" })).await;
    let name = app.launched(&alice, &id, "running").await;
    let instance = alice.get(&format!("/instances/{name}")).await.expect(200).json();
    let volume = instance["volume"].as_str().unwrap().to_owned();
    let path = format!("/volumes/{volume}/download");
    for person in [&alice, &admin] {
        let archive = person.get(&path).await.expect(200);
        assert_eq!(archive.header("content-type"), "application/gzip");
        assert_eq!(archive.header("content-disposition"), "attachment; filename=\"Penguins-part-1.tar.gz\"");
        assert_eq!(archive.header("cache-control"), "no-store");
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&*archive.body));
        let files: Vec<_> =
            tar.entries().unwrap().map(|entry| std::io::read_to_string(entry.unwrap()).unwrap()).collect();
        assert_eq!(files, ["saved"]);
    }
    let missing = bob.get("/volumes/work-aaaaaaaaaa/download").await.expect(404);
    assert_eq!(bob.get(&path).await.expect(404).body, missing.body);
    app.fleet.delay_archives(true);
    let late = alice.get(&path).await.expect(503);
    assert_eq!((&late.json()["code"], late.header("retry-after")), (&json!("download-not-ready"), "60"));
    assert!(!late.json().to_string().contains("no node"), "the reason is for administrators");
    app.fleet.delay_archives(false);
    alice.get(&path).await.expect(200);
    app.fleet.remove_archives();
    assert_eq!(alice.get(&path).await.expect(409).json()["code"], "fleet-without-downloads");
    app.finish().await;
}

#[tokio::test]
async fn download_that_breaks_off_ends_without_the_end_of_its_body() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let id = template(&admin, "Penguins", &json!({ "kind": "kept" })).await;
    let name = app.launched(&alice, &id, "running").await;
    let instance = alice.get(&format!("/instances/{name}")).await.expect(200).json();
    let path = alice.api(&format!("/volumes/{}/download", instance["volume"].as_str().unwrap()));
    app.fleet.break_archives();
    let barrier = app.fleet.hold_archives();
    let response = alice.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    tokio::task::spawn_blocking(move || barrier.wait()).await.unwrap();
    assert!(response.bytes().await.is_err(), "the client must not take it for a complete archive");
    app.finish().await;
}

#[tokio::test]
async fn student_who_is_removed_from_the_class_during_a_download_keeps_the_files() {
    let Users { app, alice, bob: teacher, admin, .. } = TestApp::start().await;
    let class = json!({ "name": "Class", "teachers": ["bob@example.org"] });
    let class = admin.post_json("/classes/", &class).await.expect(201).json()["slug"].as_str().unwrap().to_owned();
    let member = format!("/classes/{class}/members/alice@example.org");
    admin.put_json(&member, &json!({ "role": "student" })).await.expect(200);
    let body = json!({
        "name": "Penguins", "app_type": "notebook", "image": "example.org/image", "storage": { "kind": "kept" },
    });
    let created = teacher.post_json(&format!("/classes/{class}/templates/"), &body).await.expect(201).json();
    let template = format!("/classes/{class}/templates/{}", created["template_id"].as_str().unwrap());
    let launched = alice.post(&format!("{template}/launch")).await.expect(201).json();
    let name = launched["k8s_name"].as_str().unwrap();
    app.reaches(&alice, name, "running").await;
    let volume = launched["volume"].as_str().unwrap();
    let path = format!("/volumes/{volume}/download");

    let barrier = app.fleet.hold_archives();
    let mut download = alice.request(Method::GET, &alice.api(&path)).send().await.unwrap();
    let mut archive = Vec::new();
    teacher.delete(&member).await.expect(204);
    app.reaches(&alice, name, "terminated").await;
    alice.get(&template).await.expect(404);
    tokio::task::spawn_blocking(move || barrier.wait()).await.unwrap();
    while let Some(chunk) = download.chunk().await.unwrap() {
        archive.extend(chunk);
    }
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&*archive));
    assert_eq!(tar.entries().unwrap().map(Result::unwrap).count(), 1, "the download is complete");

    assert_eq!(alice.get("/volumes/").await.expect(200).json()[0]["name"], volume, "the files stay the student's");
    teacher.get(&path).await.expect(404);
    alice.delete(&format!("/volumes/{volume}")).await.expect(204);
    app.finish().await;
}
