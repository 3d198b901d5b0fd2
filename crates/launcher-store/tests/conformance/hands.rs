//! Tests of hands and messages of classes: rights are checked when they are written, and each change is signalled.

use launcher_domain::{
    ActivityAction, Caller, Class, ClassAccess, ClassMessage, ClassRole, Hand, MemberSource, Membership,
};
use launcher_store::{ActivityFilter, MemberChange, Store, StoreError};
use uuid::Uuid;

use crate::classes::{created_class, membership};
use crate::support::*;

const HELPER: &str = "helper@example.org";

/// Stores a class with Alice as teacher, Bob as student, and a helper as assistant with a name.
async fn stored_class(store: &Store, number: u128) -> Class {
    let class = created_class(store, number, "alice@example.org", "bob@example.org").await;
    let helper = Membership {
        name: "Hanna Helper".to_owned(),
        ..membership(&class, HELPER, MemberSource::Roster, ClassRole::Assistant)
    };
    store.change_members(&class, &[MemberChange::Set { membership: helper }], &admin(), at(1)).await.unwrap();
    class
}

async fn access(store: &Store, who: &Caller, class: &Class) -> ClassAccess {
    store.class_by_id(who, class.class_id).await.unwrap().unwrap()
}

fn message(class: &Class, text: &str, seconds: i64) -> ClassMessage {
    ClassMessage {
        class_id: class.class_id,
        text: text.to_owned(),
        sent_by: email("alice@example.org"),
        sent_at: at(seconds),
    }
}

/// Returns the classes with a signal after this revision.
async fn signals(store: &Store, revision: i64) -> Vec<Uuid> {
    store.feed_classes(revision).await.unwrap().into_iter().map(|(class_id, _)| class_id).collect()
}

/// Gives a class a hand that its teacher has taken, and a message.
pub(crate) async fn noticed(store: &Store, class: &Class) {
    let (teacher, student) = (access(store, &alice(), class).await, access(store, &bob(), class).await);
    store.raise_hand(&student, at(10)).await.unwrap();
    store.take_hand(&teacher, student.caller().email(), at(11)).await.unwrap();
    store.send_message(&teacher, &message(class, "ünïcode", 12)).await.unwrap();
}

#[tokio::test]
async fn hand_is_raised_once_taken_by_the_first_and_lowered() {
    on_every_engine(async |store| {
        let (class, other) = (stored_class(&store, 2).await, stored_class(&store, 3).await);
        let student = access(&store, &bob(), &class).await;
        let [teacher, helper] = [alice(), caller(HELPER)];
        let (teacher, helper) = (access(&store, &teacher, &class).await, access(&store, &helper, &class).await);
        let before = store.feed_latest().await.unwrap();

        let raised = Hand {
            class_id: class.class_id,
            email: email("bob@example.org"),
            raised_at: at(10),
            taken_by: None,
            taken_at: None,
        };
        for seconds in [10, 20] {
            let outcome = store.raise_hand(&student, at(seconds)).await.unwrap();
            assert_eq!(outcome, raised, "raised once");
        }
        let taken = Hand { taken_by: Some(email(HELPER)), taken_at: Some(at(30)), ..raised.clone() };
        for (by, seconds) in [(&helper, 30), (&teacher, 40)] {
            let outcome = store.take_hand(by, &raised.email, at(seconds)).await.unwrap();
            assert_eq!(outcome.as_ref(), Some(&taken), "the first one takes it");
        }
        assert_eq!(store.attention(class.class_id).await.unwrap().hands, std::slice::from_ref(&taken));
        let own = store.attention_of(class.class_id, &raised.email).await.unwrap();
        assert_eq!(own.hands, [taken]);
        assert_eq!(own.name_of(&email(HELPER)), "Hanna Helper");
        assert_eq!(own.members.len(), 2, "a student sees no other members: {own:?}");
        assert!(store.attention(other.class_id).await.unwrap().hands.is_empty());
        assert_eq!(signals(&store, before).await, [class.class_id]);

        let before = store.feed_latest().await.unwrap();
        for _ in 0..2 {
            store.lower_hand(&student, &raised.email).await.unwrap();
        }
        assert!(store.attention(class.class_id).await.unwrap().hands.is_empty());
        assert_eq!(signals(&store, before).await, [class.class_id]);
        assert_eq!(store.take_hand(&helper, &raised.email, at(50)).await.unwrap(), None);
        // A hand of the day before does not count as raised.
        store.raise_hand(&student, at(60)).await.unwrap();
        let tomorrow = at(60) + Hand::LIFETIME;
        assert_eq!(store.take_hand(&helper, &raised.email, tomorrow).await.unwrap(), None);
        let again = store.raise_hand(&student, tomorrow).await.unwrap();
        assert_eq!(again.raised_at, tomorrow);
        store.lower_hand(&teacher, &raised.email).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn hands_are_listed_the_oldest_first() {
    on_every_engine(async |store| {
        let class = stored_class(&store, 2).await;
        let others = ["carol@example.org", "dave@example.org"].map(|who| MemberChange::Set {
            membership: membership(&class, who, MemberSource::Roster, ClassRole::Student),
        });
        store.change_members(&class, &others, &admin(), at(1)).await.unwrap();
        for (who, seconds) in [("bob@example.org", 20), ("carol@example.org", 10), ("dave@example.org", 30)] {
            store.raise_hand(&access(&store, &caller(who), &class).await, at(seconds)).await.unwrap();
        }
        let hands = store.attention(class.class_id).await.unwrap().hands;
        let people: Vec<_> = hands.iter().map(|hand| hand.email.as_str()).collect();
        assert_eq!(people, ["carol@example.org", "bob@example.org", "dave@example.org"]);
    })
    .await;
}

#[tokio::test]
async fn message_replaces_the_former_one_and_is_logged_without_its_text() {
    on_every_engine(async |store| {
        let class = stored_class(&store, 2).await;
        let teacher = access(&store, &alice(), &class).await;
        for (text, seconds) in [("first", 10), ("ünïcode <b>\nline", 20)] {
            let before = store.feed_latest().await.unwrap();
            let message = message(&class, text, seconds);
            store.send_message(&teacher, &message).await.unwrap();
            assert_eq!(store.class_message(class.class_id).await.unwrap(), Some(message.clone()));
            let attention = store.attention(class.class_id).await.unwrap();
            assert_eq!(attention.message, Some(message));
            assert_eq!(signals(&store, before).await, [class.class_id]);
        }
        let filter = ActivityFilter { subject: Some(class.class_id.to_string()), ..ActivityFilter::default() };
        let entries = store.activities(&filter, &ALL_ENTRIES).await.unwrap();
        let sent = entries.iter().map(|entry| &entry.activity);
        let sent: Vec<_> = sent.filter(|entry| entry.action == ActivityAction::ClassMessageSent).collect();
        assert_eq!(sent.len(), 2);
        assert!(sent.iter().all(|entry| (entry.detail.as_ref(), entry.owner_email.as_ref()) == (None, None)));
        for _ in 0..2 {
            store.remove_message(&teacher).await.unwrap();
            assert_eq!(store.class_message(class.class_id).await.unwrap(), None);
        }
    })
    .await;
}

fn assert_refused<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::ClassRole)), "{outcome:?}");
}

#[tokio::test]
async fn rights_that_ended_meanwhile_change_nothing() {
    on_every_engine(async |store| {
        let class = stored_class(&store, 2).await;
        let student = access(&store, &bob(), &class).await;
        let (teacher, helper) = (access(&store, &alice(), &class).await, access(&store, &caller(HELPER), &class).await);
        let outsider = access(&store, &admin(), &class).await;
        assert_refused(store.raise_hand(&outsider, at(5)).await); // an admin is no member
        store.raise_hand(&student, at(10)).await.unwrap();
        assert_refused(store.take_hand(&student, &email("bob@example.org"), at(10)).await);
        store.send_message(&teacher, &message(&class, "kept", 10)).await.unwrap();
        let before = store.feed_latest().await.unwrap();
        let changes = [
            MemberChange::Set {
                membership: membership(&class, "carol@example.org", MemberSource::Roster, ClassRole::Teacher),
            },
            MemberChange::Remove { email: email("alice@example.org") },
            MemberChange::Remove { email: email("bob@example.org") },
            MemberChange::Remove { email: email(HELPER) },
        ];
        store.change_members(&class, &changes, &admin(), at(20)).await.unwrap();
        assert_eq!(signals(&store, before).await, [class.class_id], "streams of former members end");

        let (bob, before) = (email("bob@example.org"), store.feed_latest().await.unwrap());
        let attention = store.attention(class.class_id).await.unwrap();
        assert!(attention.hands.is_empty(), "the hand of a former member is lowered");
        assert_refused(store.raise_hand(&student, at(30)).await);
        assert_refused(store.take_hand(&helper, &bob, at(30)).await);
        assert_refused(store.lower_hand(&helper, &bob).await);
        assert_refused(store.lower_hand(&student, &bob).await);
        assert_refused(store.send_message(&teacher, &message(&class, "late", 30)).await);
        assert_refused(store.remove_message(&teacher).await);
        assert_eq!(store.attention(class.class_id).await.unwrap(), attention);
        assert!(signals(&store, before).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn hands_and_messages_that_have_ended_are_removed() {
    on_every_engine(async |store| {
        let class = stored_class(&store, 2).await;
        store.raise_hand(&access(&store, &bob(), &class).await, at(10)).await.unwrap();
        store.send_message(&access(&store, &alice(), &class).await, &message(&class, "old", 10)).await.unwrap();
        let (message_ends, hand_ends) = (at(10) + ClassMessage::LIFETIME, at(10) + Hand::LIFETIME);
        assert_eq!(store.purge_attention(message_ends).await.unwrap(), 0);
        assert_eq!(store.purge_attention(message_ends + jiff::SignedDuration::from_secs(1)).await.unwrap(), 1);
        assert_eq!(store.purge_attention(hand_ends + jiff::SignedDuration::from_secs(1)).await.unwrap(), 1);
        let attention = store.attention(class.class_id).await.unwrap();
        assert_eq!((attention.hands.len(), attention.message), (0, None));
    })
    .await;
}
