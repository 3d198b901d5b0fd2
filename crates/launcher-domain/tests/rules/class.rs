use launcher_domain::{
    Class, ClassAccess, ClassAction, ClassClosure, ClassContent, ClassRole, JsonObject, Member, MemberSource,
    Membership, Scope, Sizes, TemplateContent, TemplateSettings,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{at, caller, email};

fn read(body: &Value) -> Result<ClassContent, Vec<(String, String)>> {
    let body: JsonObject = body.as_object().unwrap().clone();
    let told = |errors: Vec<launcher_domain::FieldError>| {
        errors.into_iter().map(|error| (error.pointer.clone(), error.key().key.to_string())).collect()
    };
    ClassContent::read(&body, None).map_err(told)
}

fn class() -> Class {
    Class {
        class_id: Uuid::from_u128(1),
        content: read(&json!({ "name": "Statistics 101", "max_workshops": 40, "max_workshops_per_member": 1 }))
            .unwrap(),
        version: 1,
        created_by: email("admin@example.org"),
        created_at: at(0),
        updated_at: at(0),
    }
}

fn access(who: &str, role: Option<ClassRole>) -> Option<ClassAccess> {
    ClassAccess::new(class(), &caller(who), role)
}

#[test]
fn each_role_may_do_what_it_lists() {
    use ClassAction::{
        AnswerHands, Edit, End, Extend, Launch, LaunchForMembers, ManageMembers, ManageTemplates, RaiseHand, Read,
        SendMessage, Watch,
    };
    let all = [
        Read,
        Launch,
        Watch,
        RaiseHand,
        AnswerHands,
        Extend,
        End,
        LaunchForMembers,
        ManageTemplates,
        ManageMembers,
        SendMessage,
        Edit,
    ];
    let student = vec![Read, Launch, RaiseHand];
    let assistant = vec![Read, Launch, Watch, AnswerHands, Extend];
    // Only students ask for help.
    let teacher: Vec<_> = all.into_iter().filter(|action| *action != RaiseHand).collect();
    assert!(
        [End, LaunchForMembers, ManageTemplates, ManageMembers, SendMessage, Edit]
            .iter()
            .all(|action| teacher.contains(action))
    );
    for (role, allowed) in
        [(ClassRole::Student, student), (ClassRole::Assistant, assistant), (ClassRole::Teacher, teacher.clone())]
    {
        let access = access("alice@example.org", Some(role)).unwrap();
        let granted: Vec<_> = all.into_iter().filter(|action| access.allows(*action)).collect();
        assert_eq!(granted, allowed, "{role:?}");
    }
    for role in [None, Some(ClassRole::Student)] {
        let admin = access("admin@example.org", role).unwrap();
        assert!(teacher.iter().all(|action| admin.allows(*action)), "an admin with the role {role:?}");
    }
    assert_eq!(access("alice@example.org", None), None, "the class is hidden from people without a role");
}

#[test]
fn only_roles_that_watch_see_instances_of_other_members() {
    let class_id = Uuid::from_u128(1);
    for (role, sees_all) in [(ClassRole::Student, false), (ClassRole::Assistant, true), (ClassRole::Teacher, true)] {
        let access = access("alice@example.org", Some(role)).unwrap();
        let owner = email("alice@example.org");
        let owner = (!sees_all).then_some(&owner);
        assert_eq!(access.scope(), Scope::Class { class_id, owner }, "{role:?}");
        assert_eq!(access.limits().max_workshops, Some(40));
        assert_eq!(access.limits().max_of_owner, (!sees_all).then_some(1), "only students have a limit of their own");
    }
}

#[test]
fn slug_of_class_is_derived_from_its_name() {
    let slug = |body| read(&body).unwrap().slug;
    assert_eq!(slug(json!({ "name": "Statistics 101" })), "statistics-101");
    assert_eq!(slug(json!({ "name": "Statistics 101", "slug": null })), "statistics-101");
    assert_eq!(slug(json!({ "name": "Statistics 101", "slug": "stats" })), "stats");
    assert_eq!(slug(json!({ "name": "R" })), "class");
    assert_eq!(
        read(&json!({ "name": "R", "slug": "" })).unwrap_err(),
        [("/slug".to_owned(), "field-rule-slug".to_owned())]
    );
    assert_eq!(slug(json!({ "name": "统计" })), "class");
}

#[test]
fn wrong_content_of_class_has_all_errors() {
    let body = json!({
        "name": " ", "slug": "A b", "max_workshops": 0, "max_workshops_per_member": 10_001, "archived": "yes", "teacher": "x",
    });
    let errors = read(&body).unwrap_err();
    let found: Vec<_> = errors.iter().map(|(pointer, rule)| (pointer.as_str(), rule.as_str())).collect();
    assert_eq!(
        found,
        [
            ("/teacher", "field-rule-field-unknown"),
            ("/name", "field-rule-name"),
            ("/slug", "field-rule-slug"),
            ("/max_workshops", "field-rule-workshop-count"),
            ("/max_workshops_per_member", "field-rule-workshop-count"),
            ("/archived", "field-rule-type-boolean"),
        ]
    );
    assert_eq!(read(&json!({})).unwrap_err()[0], ("/name".to_owned(), "field-rule-field-missing".to_owned()));
}

#[test]
fn member_has_the_highest_role_of_the_current_memberships() {
    let membership = |who: &str, source, role, joined: i64, removed: Option<i64>| Membership {
        membership_id: Uuid::nil(),
        class_id: Uuid::from_u128(1),
        email: email(who),
        source,
        role,
        name: if source == MemberSource::Roster { "Bob Brown".to_owned() } else { String::new() },
        joined_at: at(joined),
        removed_at: removed.map(at),
    };
    let members = Member::of(vec![
        membership("bob@example.org", MemberSource::Link, ClassRole::Student, 5, None),
        membership("bob@example.org", MemberSource::Roster, ClassRole::Assistant, 9, None),
        membership("alice@example.org", MemberSource::Link, ClassRole::Student, 7, None),
        membership("alice@example.org", MemberSource::Roster, ClassRole::Teacher, 1, Some(6)),
        membership("eve@example.org", MemberSource::Link, ClassRole::Student, 1, Some(2)),
    ]);
    let found: Vec<_> = members.iter().map(|member| (member.email.as_str(), member.role, member.joined_at)).collect();
    assert_eq!(
        found,
        [("alice@example.org", ClassRole::Student, at(7)), ("bob@example.org", ClassRole::Assistant, at(5))]
    );
    assert_eq!(members[1].name, "Bob Brown");
    assert_eq!(members[1].sources, [MemberSource::Link, MemberSource::Roster]);
}

#[test]
fn students_launch_from_the_first_to_the_last_day_in_every_time_zone() {
    let content = read(&json!({ "name": "Class", "starts_on": "2026-09-01", "ends_on": "2026-09-30" })).unwrap();
    for (now, closure) in [
        ("2026-08-31T09:59:59Z", Some(ClassClosure::NotBegun)),
        ("2026-08-31T10:00:00Z", None),
        ("2026-10-01T11:59:59Z", None),
        ("2026-10-01T12:00:00Z", Some(ClassClosure::Over)),
    ] {
        assert_eq!(content.closure(now.parse().unwrap()), closure, "{now}");
    }
    let archived = ClassContent { archived: true, ..content };
    assert_eq!(archived.closure("2026-09-10T00:00:00Z".parse().unwrap()), Some(ClassClosure::Over));
    let wrong = json!({ "name": "Class", "starts_on": "20260901", "ends_on": "2026-02-30" });
    let expected = ["/starts_on", "/ends_on"].map(|at| (at.to_owned(), "field-rule-day".to_owned()));
    assert_eq!(read(&wrong).unwrap_err(), expected);
    let wrong = json!({ "name": "Class", "starts_on": "2026-09-02", "ends_on": "2026-09-01" });
    assert_eq!(read(&wrong).unwrap_err(), [("/ends_on".to_owned(), "field-rule-day-before-first".to_owned())]);
}

fn settings(image: &str, resources: &Value) -> TemplateSettings {
    let body = json!({ "name": "x", "app_type": "notebook", "image": image, "resources": resources });
    TemplateContent::read(body.as_object().unwrap()).unwrap().settings
}

#[test]
fn image_is_allowed_by_itself_by_its_repository_or_by_a_beginning() {
    let cases = [
        ("quay.io/jupyter/*", "quay.io/jupyter/base-notebook:1", true),
        ("quay.io/jupyter/*", "quay.io/jupyter/", false),
        ("quay.io/jupyter/*", "quay.io/jupyter-evil/x", false),
        ("quay.io/jupyter/*", "evil.example/quay.io/jupyter/x", false),
        ("quay.io/jupyter/lab", "quay.io/jupyter/lab", true),
        ("quay.io/jupyter/lab", "quay.io/jupyter/lab:1", true),
        ("quay.io/jupyter/lab", "quay.io/jupyter/lab@sha256:0123", true),
        ("quay.io/jupyter/lab", "quay.io/jupyter/lab2", false),
        ("quay.io/jupyter/lab:1", "quay.io/jupyter/lab:1", true),
        ("quay.io/jupyter/lab:1", "quay.io/jupyter/lab:12", false),
        ("quay.io/jupyter/lab:1", "quay.io/jupyter/lab:1@sha256:0123", false),
        ("python", "python:3", true),
        ("python", "python:5000/evil", false),
        ("python:*", "python:3.14", true),
        ("python:*", "python:5000/evil", false),
    ];
    for (pattern, image, is_allowed) in cases {
        let content = read(&json!({ "name": "x", "allowed_images": [pattern] })).unwrap();
        assert_eq!(content.allows_image(image), is_allowed, "{pattern} {image}");
        let errors = content.refusals(&settings("x", &json!({})), &Sizes::default());
        assert_eq!(errors[0].pointer, "/image");
    }
    assert!(read(&json!({ "name": "x" })).unwrap().allows_image("anything"));
    for wrong in ["*", "quay*", "*/jupyter", "quay.io/*/x", "/x", "x y", "quay.io/**", ""] {
        let errors = read(&json!({ "name": "x", "allowed_images": ["python", wrong] })).unwrap_err();
        assert_eq!(errors, [("/allowed_images/1".to_owned(), "field-rule-image-pattern".to_owned())], "{wrong}");
    }
}

#[test]
fn template_must_have_an_allowed_size() {
    let (sizes, small) = (Sizes::default(), json!({ "cpu_limit": "1", "memory_limit": "1024Mi" }));
    let refusals = |names: Value, resources: &Value| {
        let content = read(&json!({ "name": "x", "allowed_sizes": names })).unwrap();
        let errors = content.refusals(&settings("x", resources), &sizes);
        errors.into_iter().map(|error| (error.pointer.clone(), error.detail())).collect::<Vec<_>>()
    };
    assert!(refusals(json!(["small", "large"]), &small).is_empty());
    assert!(refusals(json!([]), &json!({ "memory_limit": "3Gi" })).is_empty());
    let refused = vec![("/resources".to_owned(), "this class allows only these sizes: small".to_owned())];
    assert_eq!(refusals(json!(["small"]), &json!({})), refused, "medium");
    assert_eq!(refusals(json!(["small"]), &json!({ "memory_limit": "3Gi" })), refused, "no size");
}
