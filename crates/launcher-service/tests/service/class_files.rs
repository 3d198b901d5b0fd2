//! Export and import of a class as a file.

use launcher_domain::{Class, ClassAccess, ClassCreators, ClassRole, FieldRule};
use launcher_service::{NewClass, Page, ServiceError, from_yaml};
use serde_json::{Value, json};

use crate::{World, body, caller, with};

const PAGE: Page = Page { limit: 100, after: None };
const DIGEST: &str =
    "quay.io/jupyter/scipy-notebook@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

impl World {
    /// Creates a class with two templates that have most kinds of fields.
    async fn rich_class(&self) -> ClassAccess {
        let admin = caller("admin");
        let class = json!({
            "name": "Statistik: \"101\"", "slug": "statistics-101", "description": "# Yes\n\n- no: 1\n", "max_workshops": 40,
            "max_workshops_per_member": 2, "archived": true,
        });
        let teachers = vec![caller("tina").email().clone()];
        let new = NewClass { body: class.as_object().unwrap().clone(), teachers };
        let access = self.launcher.create_class(&admin, &new).await.unwrap();
        let material = json!({ "directory": "/data", "sources": [
            { "kind": "git", "url": "https://git.example.org/course.git", "ref": COMMIT, "target": "course",
              "secret": "statistics" },
        ] });
        let first = with(
            body("Exercise 1"),
            &json!({
                "image": DIGEST, "material": material, "env": { "YES": "no", "N": "1e3" }, "args": ["- x", ""],
                "slug": "exercise", "tags": ["R", "ünï"], "security_profile": "baseline",
                "pod_template": { "spec": { "nodeSelector": { "disk": "ssd" } } },
                "parameters": [{ "name": "GROUP", "kind": "choice", "label": "Group", "choices": ["1", "2"] }],
            }),
        );
        self.launcher.create_template(&access, &first).await.unwrap();
        self.clock.advance(std::time::Duration::from_secs(60));
        let second = with(body("Exercise 2"), &json!({ "active": false, "unlisted": true }));
        self.launcher.create_template(&access, &second).await.unwrap();
        access
    }

    async fn export(&self, class: &Class) -> String {
        let access = self.launcher.class(&caller("admin"), &class.class_id.to_string()).await.unwrap();
        self.launcher.class_files().export(&access).await.unwrap()
    }
}

#[tokio::test]
async fn exported_class_is_imported_without_a_change_except_for_its_slug() {
    let world = World::new().await;
    let class = world.rich_class().await;
    let tina = world.launcher.class(&caller("tina"), "statistics-101").await.unwrap();
    let file = world.launcher.class_files().export(&tina).await.unwrap();
    assert!(file.starts_with("name: ") && file.contains(DIGEST) && file.contains(COMMIT), "{file}");
    assert!(!file.contains("example.org\n") && !file.contains("tina"), "no people: {file}");
    world.launcher.set_members(&class, Vec::new()).await.unwrap();

    // Another server, and the same one.
    let other = World::new().await;
    for (world, is_taken) in [(&other, false), (&world, true)] {
        let carl = [caller("carl").email().clone()];
        let imported = world.launcher.class_files().import(&caller("admin"), &file, &carl).await.unwrap();
        assert_eq!(imported.content.slug == "statistics-101", !is_taken, "{}", imported.content.slug);
        assert!(imported.content.slug.starts_with("statistics-101"));
        let again = world.export(&imported).await;
        assert_eq!(again, file.replace("slug: statistics-101\n", &format!("slug: {}\n", imported.content.slug)));
        let access = world.launcher.class(&caller("carl"), &imported.content.slug).await.unwrap();
        assert_eq!(access.role(), Some(ClassRole::Teacher));
        assert_eq!(world.launcher.members(&access).await.unwrap().len(), 1);
        let names = |templates: Vec<launcher_domain::Template>| -> Vec<String> {
            templates.into_iter().map(|template| template.settings.name).collect()
        };
        let listed = world.launcher.templates(&access, &PAGE).await.unwrap();
        assert_eq!(names(listed), ["Exercise 2", "Exercise 1"], "the order of the catalog");
    }
}

#[tokio::test]
async fn file_with_errors_is_refused_with_all_of_them_and_creates_nothing() {
    let world = World::new().await;
    let admin = caller("admin");
    let refused = async |file: &str| match world.launcher.class_files().import(&admin, file, &[]).await {
        Err(ServiceError::Invalid(errors)) => errors,
        other => panic!("{file}: {other:?}"),
    };
    let file = json!({
        "name": "", "max_workshops": 0, "teacher": "x", "templates": [
            { "name": "A", "app_type": "custom", "image": "x", "port": 8000, "slug": "same" },
            { "name": "B", "app_type": "custom", "image": "x", "slug": "same", "memroy": "1Gi" },
            { "name": "C", "app_type": "custom", "image": "x", "port": 8000, "slug": "same" },
            { "name": "D", "app_type": "notebook", "image": "x", "storage": { "kind": "home" } },
            "E",
        ]
    });
    let errors = refused(&file.to_string()).await;
    let mut pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    pointers.sort_unstable();
    let expected = [
        "/max_workshops",
        "/name",
        "/teacher",
        "/templates/1/memroy",
        "/templates/1/port",
        "/templates/2/slug",
        "/templates/3/storage/kind",
        "/templates/4",
    ];
    assert_eq!(pointers, expected);
    for (file, place) in [("name: x\ntemplates: [", "line 2"), ("name: x\nname: y", "line 2")] {
        let errors = refused(file).await;
        assert!(matches!(&errors[0].rule, FieldRule::Value { message } if message.contains(place)), "{errors:?}");
    }
    for (file, pointer) in [("- x", ""), ("", ""), ("name: x\ntemplates: 1", "/templates")] {
        assert_eq!(refused(file).await[0].pointer, pointer, "{file}");
    }
    assert!(world.launcher.classes(&admin, &PAGE).await.unwrap().is_empty());
    let forbidden = world.launcher.class_files().import(&caller("alice"), "name: x", &[]).await;
    assert!(matches!(forbidden, Err(ServiceError::Forbidden)));
}

#[tokio::test]
async fn teacher_imports_no_field_that_only_admins_set() {
    let world = World::new().await;
    let file = {
        let class = world.rich_class().await;
        world.launcher.class_files().export(&class).await.unwrap().replace("queue_weight: 1\n", "queue_weight: 2\n")
    };
    let tina = ClassCreators::parse("tina@example.org").unwrap().grant(caller("tina"));
    let Err(ServiceError::Invalid(errors)) = world.launcher.class_files().import(&tina, &file, &[]).await else {
        panic!("a teacher may not set them");
    };
    let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    let expected = [
        "/queue_weight",
        "/templates/0/pod_template",
        "/templates/0/security_profile",
        "/templates/0/material/sources/0/secret",
    ];
    assert_eq!(pointers, expected);
    assert!(errors.iter().all(|error| error.rule == FieldRule::OnlyAdmins));

    let new = |weight: u32| NewClass {
        body: json!({ "name": "x", "queue_weight": weight }).as_object().unwrap().clone(),
        teachers: Vec::new(),
    };
    assert!(matches!(world.launcher.create_class(&tina, &new(2)).await, Err(ServiceError::Invalid(_))));
    world.launcher.create_class(&tina, &new(1)).await.unwrap();
    let plain = "name: Plain\ntemplates:\n- { name: A, app_type: custom, image: x, port: 8000 }\n";
    let carl = [caller("carl").email().clone()];
    let imported = world.launcher.class_files().import(&tina, plain, &carl).await.unwrap();
    let access = world.launcher.class(&tina, &imported.content.slug).await.unwrap();
    assert_eq!(access.role(), Some(ClassRole::Teacher), "a person who is no admin stays a teacher of the own class");
}

#[tokio::test]
async fn students_and_assistants_export_no_class() {
    let world = World::new().await;
    let class = world.rich_class().await;
    let assistant = caller("alice").email().clone();
    let draft = launcher_service::MemberDraft { email: assistant, role: ClassRole::Assistant, name: String::new() };
    world.launcher.set_members(&class, vec![draft]).await.unwrap();
    let access = world.launcher.class(&caller("alice"), "statistics-101").await.unwrap();
    assert!(matches!(world.launcher.class_files().export(&access).await, Err(ServiceError::ClassRole)));
    let file: Value = from_yaml(&world.launcher.class_files().export(&class).await.unwrap()).unwrap();
    assert_eq!(file["templates"].as_array().unwrap().len(), 2);
}

#[test]
fn short_yaml_is_no_large_value() {
    let large = "x".repeat(10_000);
    assert!(from_yaml(&format!("a: &a {large}\nb: *a\n")).is_ok(), "some repetition is fine");
    for aliases in [5, 101] {
        let list = "*a, ".repeat(aliases);
        assert!(from_yaml(&format!("a: &a {large}\nb: [{list}]\n")).is_err(), "{aliases} aliases");
    }
    assert!(from_yaml(&format!("a: [{}]", "1,".repeat(60_000))).is_err(), "60,000 values");
}

#[tokio::test]
async fn file_with_too_many_templates_is_refused() {
    let world = World::new().await;
    let templates: Vec<_> = (0..201).map(|number| body(&format!("Exercise {number}"))).collect();
    let file = json!({ "name": "Large", "templates": templates }).to_string();
    let refused = world.launcher.class_files().import(&caller("admin"), &file, &[]).await;
    let Err(ServiceError::Invalid(errors)) = refused else { panic!("{refused:?}") };
    assert_eq!((errors[0].pointer.as_str(), &errors[0].rule), ("/templates", &FieldRule::TemplateCount));
}
