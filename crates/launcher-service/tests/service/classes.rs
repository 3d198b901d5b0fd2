use launcher_domain::lifetime::Bound;
use launcher_domain::{ClassAccess, ClassRole, Clock, EndReason, InstanceState, JsonObject, Template};
use launcher_service::{
    InstanceFilter, LaunchRequest, Limits, MemberDraft, NewClass, Page, ServiceError, TemplateUpdate,
};
use launcher_store::MemberChange;
use serde_json::json;

use crate::{World, body, caller, with};

const PAGE: Page = Page { limit: 100, after: None };

impl World {
    /// Creates a class whose teacher is `teacher`, with these students.
    pub(crate) async fn class(&self, teacher: &str, students: &[&str]) -> ClassAccess {
        let (admin, teacher) = (caller("admin"), caller(teacher));
        let body = with(body("x"), &json!({}));
        let new = NewClass {
            body: [("name".to_owned(), body["name"].clone())].into_iter().collect(),
            teachers: vec![teacher.email().clone()],
        };
        let created = self.launcher.create_class(&admin, &new).await.unwrap();
        let access = self.launcher.class(&teacher, &created.class().content.slug).await.unwrap();
        let drafts = students.iter().map(|name| MemberDraft {
            email: caller(name).email().clone(),
            role: ClassRole::Student,
            name: String::new(),
        });
        self.launcher.set_members(&access, drafts.collect()).await.unwrap();
        access
    }

    pub(crate) async fn access(&self, who: &str, class: &ClassAccess) -> Result<ClassAccess, ServiceError> {
        self.launcher.class(&caller(who), &class.class().content.slug).await
    }

    pub(crate) async fn class_template(&self, access: &ClassAccess) -> Template {
        self.launcher.create_template(access, &body("Exercise")).await.unwrap()
    }
}

#[tokio::test]
async fn template_of_a_class_is_hidden_from_the_shared_catalog_and_other_classes() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let other = world.class("carl", &["bob"]).await;
    assert_ne!(class.class().content.slug, other.class().content.slug, "two classes with one name");
    let id = world.class_template(&class).await.template_id;
    for who in ["tina", "alice", "bob", "admin"] {
        let who = caller(who);
        assert!(world.launcher.templates(&who, &PAGE).await.unwrap().is_empty());
        assert!(matches!(world.launcher.template(&who, id).await, Err(ServiceError::NotFound)));
        let launched = world.launcher.launch(&who, id, &LaunchRequest::default()).await;
        assert!(matches!(launched, Err(ServiceError::NotFound)), "a launch in the shared catalog");
    }
    let foreign = world.access("bob", &other).await.unwrap();
    assert!(matches!(world.launcher.template(&foreign, id).await, Err(ServiceError::NotFound)));
    let launched = world.launcher.launch(&foreign, id, &LaunchRequest::default()).await;
    assert!(matches!(launched, Err(ServiceError::NotFound)), "a launch in another class");
    assert!(matches!(world.access("bob", &class).await, Err(ServiceError::NotFound)));
    let member = world.access("alice", &class).await.unwrap();
    assert_eq!(world.launcher.templates(&member, &PAGE).await.unwrap().len(), 1);
    world.launcher.launch(&member, id, &LaunchRequest::default()).await.unwrap();
}

#[tokio::test]
async fn teacher_extends_and_ends_workshops_of_the_class_only() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let template = world.class_template(&class).await;
    let alice = world.access("alice", &class).await.unwrap();
    let request = LaunchRequest::default();
    let name = world.launcher.launch(&alice, template.template_id, &request).await.unwrap().listed.instance.k8s_name;
    let own = world.running(&caller("alice")).await;
    world.workshop(&name).await;
    world.fleet.ready(&name);
    let running = world.until(&name, InstanceState::Running).await;

    let listed = world.launcher.class_instances(&class, &InstanceFilter::default(), &PAGE).await.unwrap();
    assert_eq!(listed.iter().map(|listed| &listed.instance.k8s_name).collect::<Vec<_>>(), [&name]);
    let extended = world.launcher.extend_in_class(&class, &name, None, Bound::Maximum).await.unwrap().instance;
    assert!(extended.expires_at > running.expires_at);
    let refused = world.launcher.extend_in_class(&class, &own.k8s_name, None, Bound::Maximum).await;
    assert!(matches!(refused, Err(ServiceError::NotFound)), "a workshop of the shared catalog");
    for refused in [
        world.launcher.extend_in_class(&alice, &name, None, Bound::Maximum).await.map(|_| ()),
        world.launcher.end_in_class(&alice, &name).await.map(|_| ()),
        world.launcher.members(&alice).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(ServiceError::ClassRole)));
    }
    let ended = world.launcher.end_in_class(&class, &name).await.unwrap().instance;
    assert_eq!(ended.end_reason, Some(EndReason::Teacher));
    let tina = caller("tina");
    assert!(matches!(world.launcher.instance(&tina, &name).await, Err(ServiceError::NotFound)), "outside of the class");
}

#[tokio::test]
async fn teacher_who_is_removed_during_the_request_changes_nothing() {
    let world = World::new().await;
    let of_request = world.class("tina", &["alice"]).await;
    let template = world.class_template(&of_request).await.template_id;
    let alice = world.access("alice", &of_request).await.unwrap();
    let launched = world.launcher.launch(&alice, template, &LaunchRequest::default()).await.unwrap();
    let name = launched.listed.instance.k8s_name;
    world.workshop(&name).await;
    world.fleet.ready(&name);
    let running = world.until(&name, InstanceState::Running).await;
    let (admin, tina) = (world.access("admin", &of_request).await.unwrap(), caller("tina"));
    let carl = MemberDraft { email: caller("carl").email().clone(), role: ClassRole::Teacher, name: String::new() };
    world.launcher.set_members(&admin, vec![carl]).await.unwrap();
    world.launcher.remove_member(&admin, tina.email()).await.unwrap();

    let update = TemplateUpdate { body: body("Other"), expected_version: None };
    for refused in [
        world.launcher.extend_in_class(&of_request, &name, None, Bound::Maximum).await.map(|_| ()),
        world.launcher.extend_in_class(&of_request, &name, None, Bound::Longest).await.map(|_| ()),
        world.launcher.end_in_class(&of_request, &name).await.map(|_| ()),
        world.launcher.create_template(&of_request, &body("New")).await.map(|_| ()),
        world.launcher.update_template(&of_request, template, update).await.map(|_| ()),
        world.launcher.archive_template(&of_request, template, None).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(ServiceError::ClassRole)), "{refused:?}");
    }
    let now = world.launcher.instance(&caller("alice"), &name).await.unwrap().instance;
    assert_eq!((now.state, now.expires_at), (InstanceState::Running, running.expires_at));
    assert_eq!(world.launcher.templates(&admin, &PAGE).await.unwrap().len(), 1);
}

#[tokio::test]
async fn teacher_who_leaves_ends_the_own_workshops_of_the_class() {
    let world = World::new().await;
    let class = world.class("tina", &[]).await;
    let template = world.class_template(&class).await.template_id;
    let launched = world.launcher.launch(&class, template, &LaunchRequest::default()).await.unwrap();
    let carl = MemberDraft { email: caller("carl").email().clone(), role: ClassRole::Teacher, name: String::new() };
    world.launcher.set_members(&class, vec![carl]).await.unwrap();
    let tina = caller("tina");
    world.launcher.remove_member(&class, tina.email()).await.unwrap();
    let ended = world.launcher.instance(&tina, &launched.listed.instance.k8s_name).await.unwrap().instance;
    assert_eq!(ended.end_reason, Some(EndReason::Owner));
}

#[tokio::test]
async fn removed_student_loses_the_class_and_its_workshops() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let template = world.class_template(&class).await;
    let alice = world.access("alice", &class).await.unwrap();
    let request = LaunchRequest::default();
    let name = world.launcher.launch(&alice, template.template_id, &request).await.unwrap().listed.instance.k8s_name;
    let own = world.running(&caller("alice")).await;

    world.launcher.remove_member(&class, caller("alice").email()).await.unwrap();
    assert!(matches!(world.access("alice", &class).await, Err(ServiceError::NotFound)));
    let ended = world.launcher.instance(&caller("alice"), &name).await.unwrap().instance;
    assert_eq!(ended.end_reason, Some(EndReason::Teacher));
    assert_eq!(world.launcher.instance(&caller("alice"), &own.k8s_name).await.unwrap().instance.end_reason, None);
    let again = world.launcher.launch_again(&caller("alice"), &name, &request).await;
    assert!(matches!(again, Err(ServiceError::NotFound)), "the template is hidden again");
    world.launcher.remove_member(&class, caller("alice").email()).await.unwrap();
    let other = world.launcher.remove_member(&class, caller("bob").email()).await;
    assert!(matches!(other, Err(ServiceError::NotFound)), "a person who was never a member");
}

#[tokio::test]
async fn repeated_removal_ends_the_workshops_that_an_interrupted_one_left() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let template = world.class_template(&class).await.template_id;
    let mut names = Vec::new();
    for who in ["alice", "bob"] {
        let access = world.access(who, &class).await.unwrap();
        let launched = world.launcher.launch(&access, template, &LaunchRequest::default()).await.unwrap();
        names.push(launched.listed.instance.k8s_name);
    }
    // The first request was interrupted after the change of the members.
    let (admin, email) = (world.access("admin", &class).await.unwrap(), caller("alice").email().clone());
    let removal = MemberChange::Remove { email: email.clone() };
    world.store.change_members(class.class(), &[removal], &caller("admin"), world.clock.now()).await.unwrap();
    world.launcher.remove_member(&admin, &email).await.unwrap();
    let ends = async |name: &String| world.launcher.instance(&caller("admin"), name).await.unwrap().instance.end_reason;
    assert_eq!((ends(&names[0]).await, ends(&names[1]).await), (Some(EndReason::Admin), None));
}

#[tokio::test]
async fn changed_roster_removes_only_people_of_the_roster_and_ends_their_workshops() {
    let world = World::new().await;
    let class = world.class("tina", &["alice", "bob"]).await;
    let template = world.class_template(&class).await;
    let alice = world.access("alice", &class).await.unwrap();
    let request = LaunchRequest::default();
    let name = world.launcher.launch(&alice, template.template_id, &request).await.unwrap().listed.instance.k8s_name;
    let own = world.running(&caller("carl")).await;
    let draft = |who: &str, role| MemberDraft { email: caller(who).email().clone(), role, name: who.to_owned() };
    let emails = ["alice", "carl"].map(|who| caller(who).email().clone());

    let teachers = vec![draft("bob", ClassRole::Assistant), draft("tina", ClassRole::Student)];
    let refused = world.launcher.change_roster(&class, teachers, &emails).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(_))), "no teacher would be left");
    assert_eq!(world.launcher.members(&class).await.unwrap().len(), 3, "all or none");
    let members =
        world.launcher.change_roster(&class, vec![draft("bob", ClassRole::Assistant)], &emails).await.unwrap();
    let left: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.role)).collect();
    assert_eq!(left, [("bob", ClassRole::Assistant), ("", ClassRole::Teacher)]);
    let ended = world.launcher.instance(&caller("alice"), &name).await.unwrap().instance;
    assert_eq!(ended.end_reason, Some(EndReason::Teacher));
    let untouched = world.launcher.instance(&caller("carl"), &own.k8s_name).await.unwrap().instance;
    assert_eq!(untouched.end_reason, None, "a person who was never a member");
    world.launcher.change_roster(&class, Vec::new(), &emails).await.unwrap();

    let link = world.launcher.create_join_link(&class, &JsonObject::new()).await.unwrap();
    world.launcher.join(&caller("dora"), &link.code).await.unwrap();
    let dora = caller("dora").email().clone();
    let members = world.launcher.change_roster(&class, Vec::new(), std::slice::from_ref(&dora)).await.unwrap();
    assert!(members.iter().any(|member| member.email == dora), "a person who joined by a link");
}

#[tokio::test]
async fn student_cannot_launch_in_archived_class() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let template = world.class_template(&class).await;
    let archive = json!({ "name": "x", "archived": true });
    world.launcher.update_class(&class, archive.as_object().unwrap(), None).await.unwrap();
    let alice = world.access("alice", &class).await.unwrap();
    let refused = world.launcher.launch(&alice, template.template_id, &LaunchRequest::default()).await;
    assert!(matches!(refused, Err(ServiceError::ClassOver)));
    let tina = world.access("tina", &class).await.unwrap();
    world.launcher.launch(&tina, template.template_id, &LaunchRequest::default()).await.unwrap();
}

#[tokio::test]
async fn only_admins_raise_limits_and_change_the_slug_of_a_class() {
    let world = World::new().await;
    let class = world.class("tina", &[]).await;
    let admin = world.access("admin", &class).await.unwrap();
    let update = async |access: &ClassAccess, body: serde_json::Value| {
        world.launcher.update_class(access, body.as_object().unwrap(), None).await
    };
    update(&admin, json!({ "name": "x", "max_workshops": 5 })).await.unwrap();
    let class = world.access("tina", &class).await.unwrap();
    for (body, pointer) in [
        (json!({ "name": "x" }), "/max_workshops"),
        (json!({ "name": "x", "max_workshops": 6 }), "/max_workshops"),
        (json!({ "name": "x", "max_workshops": 5, "slug": "exam-2025" }), "/slug"),
    ] {
        let Err(ServiceError::Invalid(errors)) = update(&class, body.clone()).await else { panic!("{body}") };
        assert_eq!(errors.iter().map(|error| error.pointer.as_str()).collect::<Vec<_>>(), [pointer]);
    }
    let lower = json!({ "name": "y", "max_workshops": 4, "max_workshops_per_member": 2 });
    let class = update(&class, lower.clone()).await.unwrap();
    for (field, value) in
        [("max_workshops_per_member", json!(null)), ("max_workshops_per_member", json!(3)), ("queue_weight", json!(2))]
    {
        let mut raised = lower.clone();
        raised[field] = value;
        assert_eq!(pointers(update(&class, raised).await), [format!("/{field}")]);
    }
}

#[tokio::test]
async fn only_admins_set_pod_template_and_secret_of_class_template() {
    let world = World::new().await;
    let class = world.class("tina", &[]).await;
    let source = |host: &str| {
        json!({ "material": { "directory": "/data", "sources": [{
        "kind": "git", "url": format!("https://{host}/course.git"), "target": "course", "secret": "statistics",
    }] } })
    };
    let with_pod = with(body("Pod"), &json!({ "pod_template": { "spec": { "nodeSelector": { "disk": "ssd" } } } }));
    for (body, pointer) in [
        (with_pod.clone(), "/pod_template"),
        (with(body("Secret"), &source("a.example.org")), "/material/sources/0/secret"),
    ] {
        let Err(ServiceError::Invalid(errors)) = world.launcher.create_template(&class, &body).await else {
            panic!("a teacher may not set {pointer}");
        };
        assert_eq!(errors.iter().map(|error| error.pointer.as_str()).collect::<Vec<_>>(), [pointer]);
    }
    let baseline = with(body("Baseline"), &json!({ "security_profile": "baseline" }));
    let home = with(body("Home"), &json!({ "storage": { "kind": "home", "path": "/data" } }));
    let admin = world.access("admin", &class).await.unwrap();
    assert!(matches!(world.launcher.create_template(&class, &baseline).await, Err(ServiceError::Invalid(_))));
    let of_admin = world.launcher.create_template(&admin, &baseline).await.unwrap().template_id;
    for access in [&class, &admin] {
        let Err(ServiceError::Invalid(errors)) = world.launcher.create_template(access, &home).await else {
            panic!("a class would get the files of other workshops");
        };
        assert_eq!(errors[0].pointer, "/storage/kind");
    }
    let body = with(with_pod, &source("a.example.org"));
    let template = world.launcher.create_template(&admin, &body).await.unwrap();
    let update = |body| launcher_service::TemplateUpdate { body, expected_version: None };
    let renamed = with(body.clone(), &json!({ "name": "Renamed" }));
    let kept = with(baseline, &json!({ "name": "Renamed" }));
    world.launcher.update_template(&class, of_admin, update(kept)).await.unwrap();
    let id = template.template_id;
    world.launcher.update_template(&class, id, update(renamed)).await.unwrap();
    let moved = with(body, &source("evil.example.org"));
    let refused = world.launcher.update_template(&class, id, update(moved)).await;
    assert!(matches!(refused, Err(ServiceError::Invalid(_))), "the password would go to another host");
}

#[tokio::test]
async fn person_who_tries_many_wrong_codes_waits() {
    let world = World::new().await;
    let class = world.class("tina", &[]).await;
    let link = world.launcher.create_join_link(&class, &json!({}).as_object().unwrap().clone()).await.unwrap();
    let (alice, bob) = (caller("alice"), caller("bob"));
    for _ in 0..20 {
        let wrong = world.launcher.join(&alice, "aaaaa-aaaaa").await;
        assert!(matches!(wrong, Err(ServiceError::UnknownJoinCode)), "{wrong:?}");
    }
    let refused = world.launcher.join(&alice, &link.code).await;
    let Err(ServiceError::TooManyJoinCodes { retry_after }) = refused else { panic!("{refused:?}") };
    for _ in 0..30 {
        world.launcher.invitation(&bob, &link.code).await.unwrap();
    }
    assert_eq!(world.launcher.join(&bob, &link.code).await.unwrap().role(), Some(ClassRole::Student), "another person");
    world.clock.advance(std::time::Duration::from_secs(retry_after.into()));
    assert_eq!(world.launcher.join(&alice, &link.code).await.unwrap().role(), Some(ClassRole::Student));
}

#[tokio::test]
async fn only_teachers_create_links_of_their_class() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let student = world.access("alice", &class).await.unwrap();
    let rules = json!({}).as_object().unwrap().clone();
    let link = world.launcher.create_join_link(&class, &rules).await.unwrap();
    for refused in [
        world.launcher.create_join_link(&student, &rules).await.map(|_| ()),
        world.launcher.join_link(&student).await.map(|_| ()),
        world.launcher.revoke_join_link(&student).await,
    ] {
        assert!(matches!(refused, Err(ServiceError::ClassRole)));
    }
    world.launcher.revoke_join_link(&class).await.unwrap();
    world.launcher.revoke_join_link(&class).await.unwrap();
    assert_eq!(world.launcher.join_link(&class).await.unwrap(), None);
    let revoked = world.launcher.join(&caller("bob"), &link.code).await;
    assert!(matches!(revoked, Err(ServiceError::JoinRefused(_))), "{revoked:?}");
}

fn new_class(body: &serde_json::Value) -> NewClass {
    NewClass { body: body.as_object().unwrap().clone(), teachers: vec![caller("carl").email().clone()] }
}

/// Returns the pointers of the errors of a request, or another error.
fn pointers<T: std::fmt::Debug>(refused: Result<T, ServiceError>) -> Vec<String> {
    match refused.unwrap_err() {
        ServiceError::Invalid(errors) => errors.into_iter().map(|error| error.pointer).collect(),
        other => vec![other.to_string()],
    }
}

#[tokio::test]
async fn creator_who_is_no_admin_is_a_teacher_of_the_class() {
    let world = World::new().await;
    let creators = launcher_domain::ClassCreators::parse("tina@example.org").unwrap();
    let new = new_class(&json!({ "name": "Chemistry" }));
    let refused = world.launcher.create_class(&caller("tina"), &new).await;
    assert!(matches!(refused, Err(ServiceError::Forbidden)));
    let class = world.launcher.create_class(&creators.grant(caller("tina")), &new).await.unwrap();
    assert_eq!(class.role(), Some(ClassRole::Teacher));
    assert_eq!(world.access("carl", &class).await.unwrap().role(), Some(ClassRole::Teacher));
}

#[tokio::test]
async fn classes_of_creators_are_limited_and_tell_nothing_about_slugs() {
    let world = World::new().await;
    let limits = Limits::default();
    let (most, workshops) = (limits.max_classes_per_creator, limits.max_workshops_per_created_class);
    world.launcher.create_class(&caller("admin"), &new_class(&json!({ "name": "Chemistry" }))).await.unwrap();
    let tina = launcher_domain::ClassCreators::parse("tina@example.org").unwrap().grant(caller("tina"));
    let create = async |body: serde_json::Value| world.launcher.create_class(&tina, &new_class(&body)).await;
    for (body, pointer) in [
        (json!({ "name": "x", "slug": "chemistry" }), "/slug"),
        (json!({ "name": "x", "slug": "unused" }), "/slug"),
        (json!({ "name": "x", "max_workshops": workshops + 1 }), "/max_workshops"),
        (json!({ "name": "x", "allows_baseline": true }), "/allows_baseline"),
        (json!({ "name": "x", "allowed_sizes": ["gigantic"] }), "/allowed_sizes/0"),
    ] {
        assert_eq!(pointers(create(body.clone()).await), [pointer], "{body}");
    }
    let class = create(json!({ "name": "Chemistry", "allowed_images": ["python"] })).await.unwrap();
    assert_eq!(class.class().content.max_workshops, Some(workshops));
    let other = create(json!({ "name": "Biology", "max_workshops": 3 })).await.unwrap();
    assert_eq!(other.class().content.max_workshops, Some(3));
    for (class, name) in [(&class, "chemistry-"), (&other, "biology-")] {
        let slug = &class.class().content.slug;
        assert_eq!(slug.strip_prefix(name).map(str::len), Some(5), "{slug}: the same for a taken and a free one");
    }
    for _ in 2..most {
        create(json!({ "name": "x" })).await.unwrap();
    }
    assert_eq!(pointers(create(json!({ "name": "x" })).await), ["/archived"]);
    let imported = world.launcher.class_files().import(&tina, "name: x", &[]).await;
    assert_eq!(pointers(imported), ["/archived"]);
    let archived = json!({ "name": "Biology", "max_workshops": 3, "archived": true });
    let archived = world.launcher.update_class(&other, archived.as_object().unwrap(), None).await.unwrap();
    let last = create(json!({ "name": "x" })).await.unwrap();
    let open = json!({ "name": "Biology", "max_workshops": 3 });
    assert_eq!(pointers(world.launcher.update_class(&archived, open.as_object().unwrap(), None).await), ["/archived"]);
    let admin = world.access("admin", &last).await.unwrap();
    let raised = json!({ "name": "x", "max_workshops": workshops + 1 });
    world.launcher.update_class(&admin, raised.as_object().unwrap(), None).await.unwrap();
}

#[tokio::test]
async fn policy_of_a_class_holds_for_each_template_and_launch_of_it() {
    let world = World::new().await;
    let class = world.class("tina", &["alice"]).await;
    let python = with(body("Python"), &json!({ "image": "python:3" }));
    let before = world.launcher.create_template(&class, &python).await.unwrap().template_id;
    let alice = world.access("alice", &class).await.unwrap();
    let request = LaunchRequest::default();
    let running = world.launcher.launch(&alice, before, &request).await.unwrap().listed.instance;

    let admin = world.access("admin", &class).await.unwrap();
    let policy = json!({ "name": "x", "allowed_images": ["quay.io/jupyter/*"], "allowed_sizes": ["small"],
                         "allows_baseline": true });
    let policy = policy.as_object().unwrap();
    assert_eq!(
        pointers(world.launcher.update_class(&class, policy, None).await),
        ["/allowed_images", "/allowed_sizes", "/allows_baseline"]
    );
    world.launcher.update_class(&admin, policy, None).await.unwrap();
    let class = world.access("tina", &class).await.unwrap();
    let alice = world.access("alice", &class).await.unwrap();
    let admin = world.access("admin", &class).await.unwrap();
    for access in [&class, &admin] {
        assert_eq!(pointers(world.launcher.create_template(access, &python).await), ["/image", "/resources"]);
        let update = TemplateUpdate { body: python.clone(), expected_version: None };
        let changed = world.launcher.update_template(access, before, update).await;
        assert_eq!(pointers(changed), ["/image", "/resources"]);
        let launched = world.launcher.launch(access, before, &request).await;
        let Err(ServiceError::TemplateNotAllowed(errors)) = launched else { panic!("{launched:?}") };
        assert_eq!(errors.iter().map(|error| error.pointer.as_str()).collect::<Vec<_>>(), ["/image", "/resources"]);
    }
    for refused in [
        world.launcher.launch(&alice, before, &request).await.map(|_| ()),
        world.launcher.launch_for_class(&class, before).await.map(|_| ()),
        world.launcher.launch_again(&caller("alice"), &running.k8s_name, &request).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(ServiceError::TemplateNotAllowed(_))), "{refused:?}");
    }
    let now = world.launcher.instance(&caller("alice"), &running.k8s_name).await.unwrap().instance;
    assert_eq!(now.end_reason, None, "a workshop that was launched before stays");

    let resources = json!({ "cpu_limit": "1", "memory_limit": "1Gi" });
    let lab = json!({ "image": "quay.io/jupyter/lab:1", "security_profile": "baseline", "resources": resources });
    let lab = world.launcher.create_template(&class, &with(body("Lab"), &lab)).await.unwrap();
    world.launcher.launch(&class, lab.template_id, &request).await.unwrap();
    let file = world.launcher.class_files().export(&class).await.unwrap();
    let imported = world.launcher.class_files().import(&caller("admin"), &file, &[]).await;
    assert_eq!(pointers(imported), ["/templates/0/image", "/templates/0/resources"]);
    let file = file.replace("python:3", "quay.io/jupyter/lab").replace("cpu_limit: \"2\"", "cpu_limit: \"1\"");
    let imported =
        world.launcher.class_files().import(&caller("admin"), &file.replace("2Gi", "1Gi"), &[]).await.unwrap();
    assert_eq!(imported.content.allowed_images, ["quay.io/jupyter/*"]);
}
