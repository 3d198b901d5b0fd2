//! Tests of what the board of a class reads and changes: many instances at once, launches for members, and the signal of a
//! change to all launchers.

use launcher_domain::{Act, ClassAction, ClassRole, Instance, InstanceState, MemberSource, SecretValues};
use launcher_store::{LaunchOutcome, MemberChange, StoreError};
use uuid::Uuid;

use crate::classes::{created_class, membership, template_of};
use crate::support::*;

fn of_class(number: u128, owner: &str) -> Instance {
    Instance { template_id: Uuid::from_u128(template_of(number)), ..instance(owner) }
}

fn by_alice() -> Act {
    Act { actor_email: Some(email("alice@example.org")), at: at(50) }
}

fn ending(before: &Instance) -> Instance {
    Instance { state: InstanceState::Terminating, ..before.clone() }
}

#[tokio::test]
async fn instances_change_together_except_those_that_changed_in_between() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let access = store.class(&alice(), &class.content.slug).await.unwrap().unwrap();
        let mut rows = Vec::new();
        for owner in ["bob@example.org", "carol@example.org", "dave@example.org"] {
            rows.push(created(store.launch_own(&of_class(2, owner), &NO_LIMITS, None).await.unwrap()));
        }
        store.change_instance(&rows[1], &ending(&rows[1]), &by_alice()).await.unwrap().unwrap();
        let latest = store.feed_latest().await.unwrap();
        let changes: Vec<_> = rows.iter().map(|row| (row.clone(), ending(row))).collect();
        let by = Some((&access, ClassAction::End));
        let changed = store.change_instances(&changes, by, &by_alice()).await.unwrap();
        let revisions: Vec<_> = changed.iter().map(|row| row.as_ref().map(|row| row.revision)).collect();
        assert_eq!(revisions, [Some(latest + 1), None, Some(latest + 3)], "each has its own revision");
        for (row, stored) in rows.iter().zip(changed) {
            let now = store.instance(&admin(), &row.k8s_name).await.unwrap().unwrap().instance;
            assert_eq!(now.state, InstanceState::Terminating);
            assert!(stored.is_none_or(|stored| stored == now));
        }
    })
    .await;
}

#[tokio::test]
async fn former_teacher_changes_no_instances_and_launches_for_nobody() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let access = store.class(&alice(), &class.content.slug).await.unwrap().unwrap();
        let row = created(store.launch_own(&of_class(2, "carol@example.org"), &NO_LIMITS, None).await.unwrap());
        let successor = membership(&class, "bob@example.org", MemberSource::Roster, ClassRole::Teacher);
        let leave = MemberChange::Remove { email: email("alice@example.org") };
        store
            .change_members(&class, &[MemberChange::Set { membership: successor }, leave], &admin(), at(50))
            .await
            .unwrap();

        let by = Some((&access, ClassAction::End));
        let refused = store.change_instances(&[(row.clone(), ending(&row))], by, &by_alice()).await;
        assert!(matches!(refused, Err(StoreError::ClassRole)), "{refused:?}");
        assert_eq!(store.instance(&admin(), &row.k8s_name).await.unwrap().unwrap().instance, row);
        let new = of_class(2, "bob@example.org");
        let launched = store.launch(Some(&access), &new, &SecretValues::default(), &NO_LIMITS, None).await;
        assert!(matches!(launched, Err(StoreError::ClassRole)), "{launched:?}");
    })
    .await;
}

#[tokio::test]
async fn concurrent_launches_for_a_member_launch_once() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        let access = store.class(&alice(), &class.content.slug).await.unwrap().unwrap();
        let launches = (0..AT_ONCE).map(|_| {
            let (store, access, row) = (store.clone(), access.clone(), of_class(2, "bob@example.org"));
            tokio::spawn(async move {
                store.launch(Some(&access), &row, &SecretValues::default(), &NO_LIMITS, None).await.unwrap()
            })
        });
        let mut launched = 0;
        for launch in launches.collect::<Vec<_>>() {
            match launch.await.unwrap() {
                LaunchOutcome::Created(_) => launched += 1,
                other => assert_eq!(other, LaunchOutcome::HasInstance),
            }
        }
        assert_eq!(launched, 1);
    })
    .await;
}

#[tokio::test]
async fn change_of_class_or_members_is_signalled_once() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        created_class(&store, 3, "alice@example.org", "bob@example.org").await;
        let latest = store.feed_latest().await.unwrap();
        assert_eq!(store.feed_classes(latest).await.unwrap(), []);
        let member = membership(&class, "carol@example.org", MemberSource::Roster, ClassRole::Student);
        store.change_members(&class, &[MemberChange::Set { membership: member }], &alice(), at(50)).await.unwrap();
        let changed = store.feed_latest().await.unwrap();
        assert_eq!(store.feed_classes(latest).await.unwrap(), [(class.class_id, changed)]);
        assert_eq!(store.feed_classes(changed).await.unwrap(), []);
        let after = launcher_domain::Class { version: 2, ..class.clone() };
        assert!(store.save_class(&class, &after, &alice(), None).await.unwrap());
        let saved = store.feed_latest().await.unwrap();
        assert_eq!(store.feed_classes(changed).await.unwrap(), [(class.class_id, saved)]);
    })
    .await;
}

#[tokio::test]
async fn attendance_counts_launches_of_a_class_by_person() {
    on_every_engine(async |store| {
        let class = created_class(&store, 2, "alice@example.org", "bob@example.org").await;
        created_class(&store, 3, "alice@example.org", "bob@example.org").await;
        for row in [instance("bob@example.org"), of_class(3, "bob@example.org")] {
            created(store.launch_own(&row, &NO_LIMITS, None).await.unwrap());
        }
        assert_eq!(store.attendance(&class, None).await.unwrap(), []);
        let first = created(store.launch_own(&of_class(2, "bob@example.org"), &NO_LIMITS, None).await.unwrap());
        let mut last = created(store.launch_own(&of_class(2, "carol@example.org"), &NO_LIMITS, None).await.unwrap());
        let ended = ended(&store, &first, 60).await;
        let found = store.attendance(&class, None).await.unwrap();
        let found: Vec<_> =
            found.iter().map(|one| (one.email.as_str(), one.workshops, one.last_end, one.is_active)).collect();
        assert_eq!(found, [("bob@example.org", 1, ended.ended_at, false), ("carol@example.org", 1, None, true)]);
        // A workshop that is ending has no end yet: its owner is still there.
        use InstanceState::{Failed, Queued, Running, Starting, Suspended, Terminated, Terminating};
        let there = [Queued, Starting, Running, Terminating].map(|state| (state, true));
        for (state, is_active) in there.into_iter().chain([Suspended, Failed, Terminated].map(|state| (state, false))) {
            last = changed(&store, &last, |row| row.state = state).await;
            let found = store.attendance(&class, None).await.unwrap();
            let of_carol = found.iter().find(|one| one.email.as_str() == "carol@example.org").unwrap();
            assert_eq!(of_carol.is_active, is_active, "{state:?}");
        }
    })
    .await;
}
