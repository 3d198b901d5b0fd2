//! Tests of classes: only members and admins find them, and their scope has the instances of their templates only.

use launcher_domain::{
    Activity, ActivityAction, Caller, Class, ClassAccess, ClassContent, ClassLimits, ClassRole, EndReason, Instance,
    InstanceState, MemberSource, Membership, Template,
};
use launcher_store::{ActivityFilter, InstanceFilter, LaunchOutcome, LaunchRules, MemberChange, Store, StoreError};
use serde_json::json;
use uuid::Uuid;

use crate::support::*;

/// Returns a class with this number as its identifier.
pub(crate) fn class(number: u128) -> Class {
    let body = json!({ "name": format!("Class {number}"), "description": "ünïcode", "max_workshops": 2 });
    Class {
        class_id: Uuid::from_u128(number),
        content: ClassContent::read(body.as_object().unwrap(), None).unwrap(),
        version: 1,
        created_by: email("root@example.org"),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// Returns an identifier for each class, person and source.
fn membership_id(class: &Class, who: &str, source: MemberSource) -> Uuid {
    let person = who.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(131).wrapping_add(byte.into()));
    Uuid::from_u128((class.class_id.as_u128() << 72) | (u128::from(person) << 8) | source as u128)
}

pub(crate) fn membership(class: &Class, who: &str, source: MemberSource, role: ClassRole) -> Membership {
    Membership {
        membership_id: membership_id(class, who, source),
        class_id: class.class_id,
        email: email(who),
        source,
        role,
        name: String::new(),
        joined_at: at(0),
        removed_at: None,
    }
}

/// Returns the number of the template that [`created_class`] stores.
pub(crate) fn template_of(class: u128) -> u128 {
    class + 100
}

/// Stores a class with a teacher, a student and a template.
pub(crate) async fn created_class(store: &Store, number: u128, teacher: &str, student: &str) -> Class {
    let class = class(number);
    let members = [(teacher, ClassRole::Teacher), (student, ClassRole::Student)];
    let members = members.map(|(who, role)| membership(&class, who, MemberSource::Roster, role));
    store.create_class(&class, &members, &[], &admin(), None).await.unwrap();
    let of_class = Template { class_id: Some(class.class_id), ..template(template_of(number)) };
    assert!(store.create_template(&of_class, None).await.unwrap());
    class
}

async fn access(store: &Store, who: &Caller, class: &Class) -> Option<ClassAccess> {
    let found = store.class(who, &class.content.slug).await.unwrap();
    assert_eq!(found, store.class_by_id(who, class.class_id).await.unwrap());
    let listed = store.classes(who, false, &EVERYTHING).await.unwrap();
    assert_eq!(found, listed.into_iter().find(|listed| listed.class().class_id == class.class_id));
    found
}

#[tokio::test]
async fn only_members_and_admins_find_a_class() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let other = created_class(&store, 3, "carol@example.org", "dave@example.org").await;
        let role = async |who: &Caller, class| access(&store, who, class).await.map(|access| access.role());
        assert_eq!(role(&alice(), &class).await, Some(Some(ClassRole::Teacher)));
        assert_eq!(role(&bob(), &class).await, Some(Some(ClassRole::Student)));
        assert_eq!(role(&admin(), &class).await, Some(None));
        assert_eq!(role(&caller("carol@example.org"), &class).await, None);
        assert_eq!(role(&alice(), &other).await, None);
        assert_eq!(access(&store, &admin(), &class).await.unwrap().class(), &class);
    })
    .await;
}

#[tokio::test]
async fn removed_member_loses_the_class_and_can_return() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let by_link = MemberChange::Set {
            membership: membership(&class, "bob@example.org", MemberSource::Link, ClassRole::Assistant),
        };
        store.change_members(&class, &[by_link], &admin(), at(50)).await.unwrap();
        assert_eq!(access(&store, &bob(), &class).await.unwrap().role(), Some(ClassRole::Assistant));

        let remove = MemberChange::Remove { email: email("bob@example.org") };
        let members = store.change_members(&class, &[remove], &admin(), at(50)).await.unwrap();
        assert_eq!(members.iter().map(|member| member.email.as_str()).collect::<Vec<_>>(), ["alice@example.org"]);
        assert_eq!(access(&store, &bob(), &class).await, None);
        let history = store.memberships(&class).await.unwrap();
        assert_eq!(history.iter().filter(|one| one.removed_at == Some(at(50))).count(), 2, "the history stays");

        let back = MemberChange::Set {
            membership: membership(&class, "bob@example.org", MemberSource::Roster, ClassRole::Student),
        };
        store.change_members(&class, &[back], &admin(), at(60)).await.unwrap();
        assert_eq!(access(&store, &bob(), &class).await.unwrap().role(), Some(ClassRole::Student));
        let history = store.memberships(&class).await.unwrap();
        let returned = history.iter().find(|one| one.email.as_str() == "bob@example.org" && one.removed_at.is_none());
        assert_eq!(returned.unwrap().joined_at, at(60));
    })
    .await;
}

#[tokio::test]
async fn class_keeps_a_teacher() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let demoted = membership(&class, "alice@example.org", MemberSource::Roster, ClassRole::Student);
        for change in [
            MemberChange::Remove { email: email("alice@example.org") },
            MemberChange::Set { membership: demoted.clone() },
        ] {
            let outcome = store.change_members(&class, std::slice::from_ref(&change), &admin(), at(50)).await;
            assert!(matches!(outcome, Err(StoreError::NoTeacher)), "{change:?}: {outcome:?}");
        }
        assert_eq!(access(&store, &alice(), &class).await.unwrap().role(), Some(ClassRole::Teacher));
        let successor = membership(&class, "bob@example.org", MemberSource::Roster, ClassRole::Teacher);
        let changes = [MemberChange::Set { membership: demoted }, MemberChange::Set { membership: successor }];
        let members = store.change_members(&class, &changes, &admin(), at(50)).await.unwrap();
        assert!(members.iter().all(|member| member.joined_at == at(0)), "a new role is no new joining: {members:?}");
    })
    .await;
}

#[tokio::test]
async fn concurrent_removals_leave_a_teacher() {
    on_every_engine(async |store| {
        let class = class(2);
        let people: Vec<String> = (0..8).map(|number| format!("{}@example.org", "t".repeat(number + 1))).collect();
        let members: Vec<_> =
            people.iter().map(|who| membership(&class, who, MemberSource::Roster, ClassRole::Teacher)).collect();
        store.create_class(&class, &members, &[], &admin(), None).await.unwrap();
        let removals = people.iter().map(|who| {
            let (store, class, change) = (store.clone(), class.clone(), MemberChange::Remove { email: email(who) });
            tokio::spawn(async move { store.change_members(&class, &[change], &admin(), at(50)).await })
        });
        let mut refused = 0;
        for removal in removals.collect::<Vec<_>>() {
            match removal.await.unwrap() {
                Ok(_) => {}
                Err(StoreError::NoTeacher) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(refused, 1);
    })
    .await;
}

#[tokio::test]
async fn slug_of_class_is_unique_and_version_is_compared() {
    on_every_engine(async |store| {
        let first = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let second = created_class(&store, 3, "alice@example.org", "bob@example.org").await;
        let content = ClassContent { slug: first.content.slug.clone(), ..second.content.clone() };
        let taken = Class { content, version: 2, ..second.clone() };
        let refused = store.save_class(&second, &taken, &admin(), None).await.unwrap_err();
        assert!(matches!(refused, StoreError::ClassSlugTaken { slug } if slug == first.content.slug));
        let content = ClassContent { archived: true, ..second.content.clone() };
        let archived = Class { content, version: 2, updated_at: at(5), ..second.clone() };
        assert!(store.save_class(&second, &archived, &admin(), None).await.unwrap());
        assert!(!store.save_class(&second, &archived, &admin(), None).await.unwrap(), "the version has changed");
        assert_eq!(access(&store, &alice(), &archived).await.unwrap().class(), &archived);
    })
    .await;
}

#[tokio::test]
async fn templates_of_a_class_are_not_in_the_shared_catalog() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let ids = |templates: Vec<Template>| templates.iter().map(|one| one.template_id.as_u128()).collect::<Vec<_>>();
        assert_eq!(ids(store.templates(None, true, &EVERYTHING).await.unwrap()), [1]);
        assert_eq!(ids(store.templates(Some(class.class_id), true, &EVERYTHING).await.unwrap()), [template_of(2)]);
        assert_eq!(ids(store.templates(Some(Uuid::from_u128(9)), true, &EVERYTHING).await.unwrap()), []);
        let id = Uuid::from_u128(template_of(2));
        assert_eq!(store.template(None, id).await.unwrap(), None);
        assert_eq!(store.template(Some(Uuid::from_u128(9)), id).await.unwrap(), None);
        assert!(store.template(Some(class.class_id), id).await.unwrap().is_some());
        assert_eq!(store.template(Some(class.class_id), Uuid::from_u128(1)).await.unwrap(), None);
    })
    .await;
}

fn of_class(number: u128, owner: &str) -> Instance {
    let class_id = Some(class(number).class_id);
    Instance { template_id: Uuid::from_u128(template_of(number)), class_id, ..instance(owner) }
}

#[tokio::test]
async fn scope_of_a_class_has_instances_of_its_templates_only() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        created_class(&store, 3, "carol@example.org", "bob@example.org").await;
        let launch = async |row: Instance| created(store.launch_own(&row, &NO_LIMITS, None).await.unwrap()).k8s_name;
        let shared = launch(instance("bob@example.org")).await;
        let his = launch(of_class(2, "bob@example.org")).await;
        let hers = launch(of_class(2, "alice@example.org")).await;
        let elsewhere = launch(of_class(3, "bob@example.org")).await;

        for (who, seen) in [(alice(), vec![&hers, &his]), (bob(), vec![&his]), (admin(), vec![&hers, &his])] {
            let access = access(&store, &who, &class).await.unwrap();
            let listed = store.instances(access.scope(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
            assert_eq!(
                names(listed.iter().map(|listed| &listed.instance)),
                seen.iter().map(|name| name.as_str()).collect::<Vec<_>>()
            );
            for name in [&shared, &his, &hers, &elsewhere] {
                let found = store.instance(access.scope(), name).await.unwrap();
                assert_eq!(found.is_some(), seen.contains(&name), "{name} for {}", who.email());
            }
        }
        let own = store.instances(&bob(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
        assert_eq!(own.len(), 3, "the instances of a class are among the owner's own");
        let own = store.instances(&alice(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
        assert_eq!(own.len(), 1, "a teacher's own list has no instances of students");
    })
    .await;
}

#[tokio::test]
async fn limits_of_a_class_are_exact_under_concurrent_launches() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let limits = |max_workshops, max_of_owner| LaunchRules {
            class: Some(ClassLimits {
                class_id: class.class_id,
                max_workshops,
                max_of_owner,
                needs_member: false,
                queue_weight: 1,
            }),
            ..NO_LIMITS
        };
        created(store.launch_own(&instance("bob@example.org"), &NO_LIMITS, None).await.unwrap());
        let rules = limits(None, Some(1));
        let first = created(store.launch_own(&of_class(2, "bob@example.org"), &rules, None).await.unwrap());
        let refused = store.launch_own(&of_class(2, "bob@example.org"), &rules, None).await.unwrap();
        assert_eq!(refused, LaunchOutcome::ClassLimitReached { limit: 1, is_of_owner: true });
        ended(&store, &first, 60).await;

        let launches = (0..AT_ONCE).map(|number| {
            let (store, rules, row) =
                (store.clone(), limits(Some(7), None), of_class(2, &format!("u{number}@example.org")));
            tokio::spawn(async move { store.launch_own(&row, &rules, None).await.unwrap() })
        });
        let mut launched = 0;
        for launch in launches.collect::<Vec<_>>() {
            match launch.await.unwrap() {
                LaunchOutcome::Created(_) => launched += 1,
                other => assert_eq!(other, LaunchOutcome::ClassLimitReached { limit: 7, is_of_owner: false }),
            }
        }
        assert_eq!(launched, 7);
    })
    .await;
}

#[tokio::test]
async fn limits_of_a_class_count_only_unfinished_instances() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let limits = |max_workshops, max_of_owner| LaunchRules {
            class: Some(ClassLimits {
                class_id: class.class_id,
                max_workshops,
                max_of_owner,
                needs_member: false,
                queue_weight: 1,
            }),
            ..NO_LIMITS
        };
        let mut row = created(store.launch_own(&of_class(2, "bob@example.org"), &NO_LIMITS, None).await.unwrap());
        for state in InstanceState::ALL {
            for end_reason in [None, Some(EndReason::Owner), Some(EndReason::Failed)] {
                row = changed(&store, &row, |row| (row.state, row.end_reason) = (state, end_reason)).await;
                for (rules, is_of_owner) in [(limits(None, Some(1)), true), (limits(Some(1), None), false)] {
                    let outcome = store.launch_own(&of_class(2, "bob@example.org"), &rules, None).await.unwrap();
                    if row.counts_against_limit() {
                        let refused = LaunchOutcome::ClassLimitReached { limit: 1, is_of_owner };
                        assert_eq!(outcome, refused, "{state:?} {end_reason:?}");
                    } else {
                        ended(&store, &created(outcome), 60).await;
                    }
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn former_member_can_neither_change_the_class_nor_launch() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let rules = |needs_member| LaunchRules {
            class: Some(ClassLimits {
                class_id: class.class_id,
                max_workshops: None,
                max_of_owner: None,
                needs_member,
                queue_weight: 1,
            }),
            ..NO_LIMITS
        };
        created(store.launch_own(&of_class(2, "bob@example.org"), &rules(true), None).await.unwrap());
        let successor = membership(&class, "carol@example.org", MemberSource::Roster, ClassRole::Teacher);
        let changes = [
            MemberChange::Set { membership: successor },
            MemberChange::Remove { email: email("alice@example.org") },
            MemberChange::Remove { email: email("bob@example.org") },
        ];
        store.change_members(&class, &changes, &admin(), at(50)).await.unwrap();
        let back = membership(&class, "alice@example.org", MemberSource::Roster, ClassRole::Teacher);
        for caller in [alice(), bob()] {
            let back = [MemberChange::Set { membership: back.clone() }];
            let outcome = store.change_members(&class, &back, &caller, at(60)).await;
            assert!(matches!(outcome, Err(StoreError::ClassRole)), "{outcome:?}");
            let after = Class { version: 2, ..class.clone() };
            assert!(!store.save_class(&class, &after, &caller, None).await.unwrap());
        }
        let refused = store.launch_own(&of_class(2, "bob@example.org"), &rules(true), None).await.unwrap();
        assert_eq!(refused, LaunchOutcome::NotMember);
        created(store.launch_own(&of_class(2, "root@example.org"), &rules(false), None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn teacher_who_is_removed_during_the_request_writes_no_template() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let of_request = access(&store, &alice(), &class).await.unwrap();
        let successor = membership(&class, "carol@example.org", MemberSource::Roster, ClassRole::Teacher);
        let leave = MemberChange::Remove { email: email("alice@example.org") };
        let changes = [MemberChange::Set { membership: successor }, leave];
        store.change_members(&class, &changes, &admin(), at(50)).await.unwrap();

        let before = store.template(Some(class.class_id), Uuid::from_u128(template_of(2))).await.unwrap().unwrap();
        let after = Template { active: false, version: 2, ..before.clone() };
        let saved = store.save_template(&before, &after, &alice(), Some(&of_request)).await;
        assert!(matches!(saved, Err(StoreError::ClassRole)), "{saved:?}");
        let new = Template { class_id: Some(class.class_id), ..template(7) };
        let created = store.create_template(&new, Some(&of_request)).await;
        assert!(matches!(created, Err(StoreError::ClassRole)), "{created:?}");
        assert_eq!(store.templates(Some(class.class_id), true, &EVERYTHING).await.unwrap(), [before]);
    })
    .await;
}

#[tokio::test]
async fn creator_has_a_maximum_of_classes_that_are_not_archived() {
    on_every_engine(async |store| {
        let create = async |number: u128, most: Option<u32>| {
            let class = Class { created_by: email("alice@example.org"), ..class(number) };
            let teacher = membership(&class, "alice@example.org", MemberSource::Roster, ClassRole::Teacher);
            store.create_class(&class, &[teacher], &[], &alice(), most).await.map(|()| class)
        };
        let is_full = |refused: &StoreError| matches!(refused, StoreError::TooManyClasses { limit: 2 });
        let creations = (2..2 + u128::try_from(AT_ONCE).unwrap()).map(|number| create(number, Some(2)));
        let (made, refused): (Vec<_>, Vec<_>) =
            futures_util::future::join_all(creations).await.into_iter().partition(Result::is_ok);
        assert_eq!(made.len(), 2);
        assert!(refused.iter().all(|refused| is_full(refused.as_ref().unwrap_err())), "{refused:?}");
        let others = class(90);
        store.create_class(&others, &[], &[], &admin(), Some(1)).await.unwrap();

        let first = made.into_iter().next().unwrap().unwrap();
        let mut archived = Class { version: 2, ..first.clone() };
        archived.content.archived = true;
        assert!(store.save_class(&first, &archived, &alice(), Some(2)).await.unwrap());
        create(80, Some(2)).await.unwrap();
        let opened = Class { version: 3, content: first.content.clone(), ..archived.clone() };
        assert!(is_full(&store.save_class(&archived, &opened, &alice(), Some(2)).await.unwrap_err()));
        assert!(store.save_class(&archived, &opened, &admin(), None).await.unwrap());

        // An archived class counts while it has workshops.
        let mut closed = Class { version: 4, ..opened.clone() };
        closed.content.archived = true;
        assert!(store.save_class(&opened, &closed, &alice(), Some(2)).await.unwrap());
        let launched = Instance { class_id: Some(closed.class_id), ..instance("bob@example.org") };
        let running = created(store.launch_own(&launched, &NO_LIMITS, None).await.unwrap());
        let refused = create(81, Some(3)).await.unwrap_err();
        assert!(matches!(refused, StoreError::TooManyClasses { limit: 3 }), "{refused:?}");
        changed(&store, &running, |row| row.state = InstanceState::Terminated).await;
        create(81, Some(3)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn changes_of_class_and_members_are_logged() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let member =
            |role| MemberChange::Set { membership: membership(&class, "bob@example.org", MemberSource::Roster, role) };
        for change in [
            member(ClassRole::Student),
            member(ClassRole::Assistant),
            MemberChange::Remove { email: email("bob@example.org") },
        ] {
            store.change_members(&class, &[change], &admin(), at(50)).await.unwrap();
        }
        let filter = ActivityFilter { subject: Some(class.class_id.to_string()), ..ActivityFilter::default() };
        let entries = store.activities(&filter, &ALL_ENTRIES).await.unwrap();
        let told: Vec<_> = entries
            .iter()
            .map(|entry| {
                let Activity { action, owner_email, detail, .. } = &entry.activity;
                (*action, owner_email.as_ref().map(|owner| owner.as_str()), detail.as_deref())
            })
            .collect();
        let (alice, bob) = (Some("alice@example.org"), Some("bob@example.org"));
        assert_eq!(
            told,
            [
                (ActivityAction::MemberRemoved, bob, Some("assistant")),
                (ActivityAction::MemberChanged, bob, Some("assistant")),
                (ActivityAction::ClassCreated, None, None),
                (ActivityAction::MemberAdded, alice, Some("teacher")),
                (ActivityAction::MemberAdded, bob, Some("student")),
            ]
        );
    })
    .await;
}
