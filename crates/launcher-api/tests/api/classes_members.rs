use launcher_testkit::{TestApp, Users};
use serde_json::{Value, json};

#[tokio::test]
async fn several_members_are_set_all_or_none() {
    let Users { app, alice: teacher, admin, .. } = TestApp::start().await;
    let class = json!({ "name": "Class", "teachers": ["alice@example.org"] });
    let slug = admin.post_json("/classes/", &class).await.expect(201).json()["slug"].as_str().unwrap().to_owned();
    let path = format!("/classes/{slug}/members/");
    let names = |members: Value| -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        members.as_array().unwrap().iter().map(|member| text(&member["email"]) + " " + &text(&member["role"])).collect()
    };
    let many = |count: usize| -> Vec<Value> {
        (0..count).map(|number| json!({ "email": format!("p{number:04}@example.org"), "role": "student" })).collect()
    };
    let mut members = many(998);
    members.push(json!({ "email": "BOB@example.org", "role": "student" }));
    members.push(json!({ "email": "bob@example.org", "role": "assistant", "name": "Bob" }));
    let set = names(teacher.post_json(&path, &json!({ "members": members })).await.expect(200).json());
    assert_eq!(set[..3], ["alice@example.org teacher", "bob@example.org assistant", "p0000@example.org student"]);
    assert_eq!(set.len(), 1000);

    for (members, pointer) in [
        (json!([{ "email": "new@example.org", "role": "student" }]), ""),
        (
            json!([{ "email": "bob@example.org", "role": "student" }, { "email": "alice@example.org", "role": "student" }]),
            "/role",
        ),
        (
            json!([{ "email": "bob@example.org", "role": "student" }, { "email": "x", "role": "student" }]),
            "/members/1/email",
        ),
        (json!([{ "email": "bob@example.org", "role": "boss" }]), "/members/0/role"),
        (json!([{ "email": "bob@example.org", "role": "student", "name": "x".repeat(81) }]), "/name"),
        (json!(vec![json!({ "email": "bob@example.org", "role": "student" }); 1001]), ""),
    ] {
        let refused = teacher.post_json(&path, &json!({ "members": members })).await.expect(422).json();
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    assert_eq!(names(teacher.get(&path).await.expect(200).json()), set, "nothing was changed");
    app.finish().await;
}
