//! Tests of join links: a link admits exactly its seats, and a class has one link.

use launcher_domain::class::MAX_MEMBERS;
use launcher_domain::{ActivityAction, Class, ClassContent, ClassRole, JoinLink, JoinRefusal, JoinRules, MemberSource};
use launcher_store::{ActivityFilter, JoinOutcome, MemberChange, Page, Store};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::classes::{class, created_class, membership};
use crate::support::*;

pub(crate) fn link(class: &Class, number: u128, code: &str, rules: &Value) -> JoinLink {
    JoinLink {
        link_id: Uuid::from_u128(number),
        code: code.to_owned(),
        class_id: class.class_id,
        rules: JoinRules::read(rules.as_object().unwrap()).unwrap(),
        created_by: email("alice@example.org"),
        created_at: at(0),
        expires_at: at(3600),
        joined: 0,
        revoked_at: None,
    }
}

async fn join(store: &Store, code: &str, who: &str, number: u128) -> JoinOutcome {
    store.join(code, &caller(who), Uuid::from_u128(number), at(10)).await.unwrap()
}

#[tokio::test]
async fn link_admits_exactly_its_seats() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let stored = link(&class, 1, "abcdefghij", &json!({ "seats": 3 }));
        assert!(store.replace_join_link(&class, Some(&stored), &alice(), at(0)).await.unwrap());
        let joins = (0..8).map(|number| {
            let store = store.clone();
            tokio::spawn(
                async move { join(&store, "abcdefghij", &format!("s{number}@example.org"), 50 + number).await },
            )
        });
        let mut outcomes = Vec::new();
        for join in joins.collect::<Vec<_>>() {
            outcomes.push(join.await.unwrap());
        }
        let joined =
            outcomes.iter().filter(|outcome| **outcome == JoinOutcome::Joined(Box::new(class.clone()))).count();
        let full = outcomes.iter().filter(|outcome| **outcome == JoinOutcome::Refused(JoinRefusal::Full)).count();
        assert_eq!((joined, full), (3, 5), "{outcomes:?}");
        assert_eq!(store.join_link(&class).await.unwrap().unwrap().joined, 3);
        let by_link = store.memberships(&class).await.unwrap();
        assert_eq!(by_link.iter().filter(|one| one.source == MemberSource::Link).count(), 3);
        // A member takes no second seat, and stays as before.
        assert_eq!(
            join(&store, "abcdefghij", "bob@example.org", 90).await,
            JoinOutcome::Joined(Box::new(class.clone()))
        );
        assert_eq!(join(&store, "abcdefghik", "bob@example.org", 91).await, JoinOutcome::Unknown);
    })
    .await;
}

#[tokio::test]
async fn link_admits_up_to_the_maximum_of_members() {
    on_every_engine(async |store| {
        let class = class(2);
        let of_number = |number: usize| match number {
            0 => membership(&class, "alice@example.org", MemberSource::Roster, ClassRole::Teacher),
            _ => membership(&class, &format!("s{number}@example.org"), MemberSource::Roster, ClassRole::Student),
        };
        let members: Vec<_> = (0..MAX_MEMBERS - 1).map(of_number).collect();
        store.create_class(&class, &members, &[], &admin(), None).await.unwrap();
        let stored = link(&class, 1, "abcdefghij", &json!({}));
        assert!(store.replace_join_link(&class, Some(&stored), &alice(), at(0)).await.unwrap());
        assert_eq!(
            join(&store, &stored.code, "bob@example.org", 50).await,
            JoinOutcome::Joined(Box::new(class.clone())),
            "the last place"
        );
        let refused = JoinOutcome::Refused(JoinRefusal::ClassFull);
        assert_eq!(join(&store, &stored.code, "carol@example.org", 51).await, refused);
        let remove = MemberChange::Remove { email: email("bob@example.org") };
        store.change_members(&class, &[remove], &alice(), at(11)).await.unwrap();
        assert_eq!(
            join(&store, &stored.code, "carol@example.org", 52).await,
            JoinOutcome::Joined(Box::new(class.clone())),
            "a former member takes no place"
        );
    })
    .await;
}

#[tokio::test]
async fn new_link_revokes_the_former_one() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let [first, second] = [(1, "abcdefghij"), (2, "bcdefghijk")]
            .map(|(number, code)| link(&class, number, code, &json!({ "domain": "example.org" })));
        for link in [&first, &second] {
            assert!(store.replace_join_link(&class, Some(link), &alice(), at(5)).await.unwrap());
        }
        assert_eq!(store.join_link(&class).await.unwrap(), Some(second.clone()));
        let refused = join(&store, &first.code, "carol@example.org", 50).await;
        assert_eq!(refused, JoinOutcome::Refused(JoinRefusal::Revoked));
        assert!(!store.replace_join_link(&class, None, &bob(), at(6)).await.unwrap(), "a student");
        assert!(store.replace_join_link(&class, None, &admin(), at(6)).await.unwrap());
        assert_eq!(store.join_link(&class).await.unwrap(), None);
        let revoked = store.invitation(&second.code, &email("carol@example.org")).await.unwrap().unwrap();
        assert_eq!(revoked.link, JoinLink { revoked_at: Some(at(6)), ..second });
        assert_eq!((revoked.class, revoked.memberships), (class, Vec::new()));
    })
    .await;
}

#[tokio::test]
async fn removed_person_and_archived_class_are_refused_in_the_transaction() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let stored = link(&class, 1, "abcdefghij", &json!({}));
        assert!(store.replace_join_link(&class, Some(&stored), &alice(), at(0)).await.unwrap());
        assert_eq!(
            join(&store, &stored.code, "carol@example.org", 50).await,
            JoinOutcome::Joined(Box::new(class.clone()))
        );
        let remove = MemberChange::Remove { email: email("carol@example.org") };
        store.change_members(&class, &[remove], &alice(), at(11)).await.unwrap();
        let refused = join(&store, &stored.code, "carol@example.org", 51).await;
        assert_eq!(refused, JoinOutcome::Refused(JoinRefusal::Removed));

        let content = ClassContent { archived: true, ..class.content.clone() };
        let archived = Class { content, version: 2, ..class.clone() };
        assert!(store.save_class(&class, &archived, &alice(), None).await.unwrap());
        let refused = join(&store, &stored.code, "dave@example.org", 52).await;
        assert_eq!(refused, JoinOutcome::Refused(JoinRefusal::Over));

        let log = store.activities(&ActivityFilter::default(), &Page { limit: 100, after: None }).await.unwrap();
        let of_join: Vec<_> = log.iter().map(|logged| (logged.activity.action, &logged.activity.owner_email)).collect();
        assert!(of_join.contains(&(ActivityAction::MemberAdded, &Some(email("carol@example.org")))));
        assert!(of_join.contains(&(ActivityAction::JoinLinkCreated, &None)), "{of_join:?}");
    })
    .await;
}
