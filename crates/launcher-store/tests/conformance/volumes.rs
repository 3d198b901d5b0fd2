//! Tests of volumes: claimed by launches, listed and deleted by their owners, and deleted after their retention.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::quantity::Quantity;
use launcher_domain::{ActivityAction, AtExpiry, EmailAddress, Instance, InstanceState, Storage, StorageKind, Volume};
use launcher_store::{ActivityFilter, LaunchOutcome, LaunchRules, Page, Store, VolumeDeletion, VolumeUser};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::support::*;

/// Returns an instance whose template has storage of this kind; `number` is part of the name of a new volume.
pub(crate) fn draft(owner: &str, kind: StorageKind, number: u8) -> Instance {
    let mut draft = instance(owner);
    let size = Quantity::parse("5Gi").unwrap();
    draft.settings.storage = Some(Storage { kind, size, path: "/home/jovyan".to_owned(), at_expiry: AtExpiry::End });
    draft.volume = Some(volume_name(number));
    draft
}

pub(crate) fn used_by(row: &Instance, is_suspended: bool) -> VolumeUser {
    VolumeUser { k8s_name: row.k8s_name.clone(), is_suspended }
}

fn volume_name(number: u8) -> String {
    format!("work-aaaaaaaa{}{}", number / 8 + 2, number % 8 + 2)
}

async fn launch(store: &Store, draft: &Instance) -> LaunchOutcome {
    store.launch_own(draft, &NO_LIMITS, None).await.unwrap()
}

async fn end(store: &Store, row: &Instance) {
    changed(store, row, |row| row.state = InstanceState::Terminated).await;
}

async fn names(store: &Store, owner: Option<&EmailAddress>) -> Vec<String> {
    let listed = store.volumes(&admin(), owner, &EVERYTHING).await.unwrap();
    listed.into_iter().map(|listed| listed.volume.name).collect()
}

#[tokio::test]
async fn first_launch_creates_the_volume_and_later_launches_reuse_it() {
    on_every_engine(async |store| {
        let first = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 1)).await);
        assert_eq!(first.volume, Some(volume_name(1)));
        assert_eq!(store.observe_instance(&first.k8s_name).await.unwrap(), Some(first.clone()));
        end(&store, &first).await;

        let again = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 2)).await);
        assert_eq!(again.volume, Some(volume_name(1)), "the volume of the first launch");
        let listed = store.volumes(&alice(), None, &EVERYTHING).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].used_by, Some(used_by(&again, false)));
        let expected = Volume {
            volume_id: first.instance_id,
            name: volume_name(1),
            owner_email: first.owner_email.clone(),
            template_id: Some(first.template_id),
            template_name: Some(first.settings.name.clone()),
            namespace: None,
            size: "5Gi".to_owned(),
            created_at: first.created_at,
            last_used_at: again.created_at,
            kept_until: Some(Timestamp::UNIX_EPOCH),
        };
        assert_eq!(listed[0].volume, expected);
        assert_eq!(store.volume(&alice(), &volume_name(1)).await.unwrap().as_ref(), Some(&listed[0]));
    })
    .await;
}

#[tokio::test]
async fn volumes_of_other_users_and_other_templates_are_separate() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        let mut other_template = draft("alice@example.org", StorageKind::Kept, 2);
        other_template.template_id = Uuid::from_u128(2);
        let drafts = [
            draft("alice@example.org", StorageKind::Kept, 1),
            other_template,
            draft("bob@example.org", StorageKind::Kept, 3),
            draft("alice@example.org", StorageKind::Home, 4),
            draft("bob@example.org", StorageKind::Home, 5),
        ];
        for (number, draft) in (1..).zip(&drafts) {
            assert_eq!(created(launch(&store, draft).await).volume, Some(volume_name(number)));
        }
        assert_eq!(names(&store, None).await.len(), drafts.len());
        assert_eq!(names(&store, Some(&email("bob@example.org"))).await, [volume_name(5), volume_name(3)]);
    })
    .await;
}

#[tokio::test]
async fn templates_with_home_share_one_volume_per_user() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        let first = created(launch(&store, &draft("alice@example.org", StorageKind::Home, 1)).await);
        end(&store, &first).await;
        let mut second = draft("alice@example.org", StorageKind::Home, 2);
        second.template_id = Uuid::from_u128(2);
        assert_eq!(created(launch(&store, &second).await).volume, first.volume);
        let shared = &store.volumes(&alice(), None, &EVERYTHING).await.unwrap()[0].volume;
        assert_eq!((shared.template_id, shared.template_name.as_deref()), (None, None));
    })
    .await;
}

#[tokio::test]
async fn launch_is_refused_while_another_instance_uses_the_volume() {
    on_every_engine(async |store| {
        let first = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 1)).await);
        let mut row = first;
        for state in InstanceState::ALL {
            row = changed(&store, &row, |row| row.state = state).await;
            let is_free = matches!(state, InstanceState::Terminated | InstanceState::Failed);
            let outcome = launch(&store, &draft("alice@example.org", StorageKind::Kept, 2)).await;
            if is_free {
                end(&store, &created(outcome)).await;
            } else {
                let user = used_by(&row, state == InstanceState::Suspended);
                assert_eq!(outcome, LaunchOutcome::VolumeInUse(user), "{state:?}");
            }
        }
        assert_eq!(names(&store, None).await, [volume_name(1)], "a refused launch creates no volume");
    })
    .await;
}

#[tokio::test]
async fn instance_with_an_existing_volume_has_the_size_of_that_volume() {
    on_every_engine(async |store| {
        let first = created(launch(&store, &draft("alice@example.org", StorageKind::Home, 1)).await);
        end(&store, &first).await;
        let mut larger = draft("alice@example.org", StorageKind::Home, 2);
        larger.settings.storage.as_mut().unwrap().size = Quantity::parse("100Gi").unwrap();
        let second = created(launch(&store, &larger).await);
        assert_eq!(second.settings.storage.unwrap().size.as_str(), "5Gi", "the fleet may not have created it before");
    })
    .await;
}

#[tokio::test]
async fn new_volume_beyond_the_limit_of_its_owner_is_refused() {
    on_every_engine(async |store| {
        let rules = LaunchRules { max_storage_gib: Some(9), ..NO_LIMITS };
        let limited = async |draft: Instance| store.launch_own(&draft, &rules, None).await.unwrap();
        let kept = || draft("alice@example.org", StorageKind::Kept, 1);
        let first = created(limited(kept()).await);
        end(&store, &first).await;

        let home = || draft("alice@example.org", StorageKind::Home, 2);
        assert_eq!(limited(home()).await, LaunchOutcome::StorageLimitReached { limit_gib: 9 }, "5Gi and 5Gi");
        assert_eq!(names(&store, None).await, [volume_name(1)], "a refused launch creates no volume");
        created(limited(draft("bob@example.org", StorageKind::Home, 3)).await);
        let exact = LaunchRules { max_storage_gib: Some(10), ..NO_LIMITS };
        let second = draft("bob@example.org", StorageKind::Kept, 4);
        created(store.launch_own(&second, &exact, None).await.unwrap());
        let smaller = LaunchRules { max_storage_gib: Some(1), ..NO_LIMITS };
        let again = created(store.launch_own(&kept(), &smaller, None).await.unwrap());
        assert_eq!(again.volume, Some(volume_name(1)), "an existing volume is never refused");

        end(&store, &again).await;
        store.delete_volume(&alice(), &volume_name(1), again.created_at).await.unwrap();
        let replaced = created(limited(home()).await);
        assert_eq!(replaced.volume, Some(volume_name(2)), "a deleted volume does not count");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_do_not_exceed_the_limit_of_their_owner() {
    on_every_engine(async |store| {
        let mut tasks = JoinSet::new();
        for number in 2..10_u8 {
            store.create_template(&template(number.into()), None).await.unwrap();
            let mut draft = draft("alice@example.org", StorageKind::Kept, number);
            draft.template_id = Uuid::from_u128(number.into());
            let store = store.clone();
            let rules = LaunchRules { max_storage_gib: Some(17), ..NO_LIMITS };
            tasks.spawn(async move { store.launch_own(&draft, &rules, None).await.unwrap() });
        }
        let outcomes = tasks.join_all().await;
        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        assert_eq!(created, 3, "three volumes of 5Gi fit into 17 GiB: {outcomes:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_give_the_volume_to_one_instance() {
    on_every_engine(async |store| {
        let mut tasks = JoinSet::new();
        for number in 0..20 {
            let store = store.clone();
            tasks.spawn(async move { launch(&store, &draft("alice@example.org", StorageKind::Kept, number)).await });
        }
        let outcomes = tasks.join_all().await;
        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        let refused = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::VolumeInUse(_))).count();
        assert_eq!((created, refused), (1, 19));
        assert_eq!(names(&store, None).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn instance_without_storage_has_no_volume() {
    on_every_engine(async |store| {
        let mut without = instance("alice@example.org");
        without.volume = Some(volume_name(1));
        assert_eq!(created(launch(&store, &without).await).volume, None);
        assert_eq!(names(&store, None).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn only_owner_and_admin_see_and_delete_a_volume() {
    on_every_engine(async |store| {
        let row = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 1)).await);
        end(&store, &row).await;
        let name = volume_name(1);
        assert_eq!(store.volume(&bob(), &name).await.unwrap(), None);
        assert_eq!(store.volumes(&bob(), None, &EVERYTHING).await.unwrap(), []);
        assert_eq!(store.volumes(&bob(), Some(alice().email()), &EVERYTHING).await.unwrap(), []);
        assert_eq!(store.delete_volume(&bob(), &name, at(1)).await.unwrap(), VolumeDeletion::NotFound);
        assert_eq!(store.delete_volume(&admin(), &volume_name(2), at(1)).await.unwrap(), VolumeDeletion::NotFound);
        assert_eq!(names(&store, None).await, std::slice::from_ref(&name));

        assert_eq!(store.delete_volume(&admin(), &name, at(1)).await.unwrap(), VolumeDeletion::Decided);
        assert_eq!(names(&store, None).await, [""; 0]);
        assert_eq!(store.delete_volume(&alice(), &name, at(2)).await.unwrap(), VolumeDeletion::NotFound);
    })
    .await;
}

#[tokio::test]
async fn volume_stays_in_its_namespace_and_decides_that_of_later_instances() {
    on_every_engine(async |store| {
        let draft = |number, namespace: Option<&str>| {
            let namespace = namespace.map(str::to_owned);
            Instance { namespace, ..draft("alice@example.org", StorageKind::Kept, number) }
        };
        let first = created(launch(&store, &draft(1, Some("class-a"))).await);
        assert_eq!(first.namespace.as_deref(), Some("class-a"));
        end(&store, &first).await;
        let again = created(launch(&store, &draft(2, None)).await);
        assert_eq!((again.namespace, again.volume), (first.namespace, first.volume));
        let row = store.observe_instance(&again.k8s_name).await.unwrap().unwrap();
        end(&store, &row).await;
        assert_eq!(store.delete_volume(&alice(), &volume_name(1), at(1)).await.unwrap(), VolumeDeletion::Decided);
        let pending = store.purge_volumes().await.unwrap();
        assert_eq!(pending, [(volume_name(1), Some("class-a".to_owned()))]);
        let moved = created(launch(&store, &draft(3, None)).await);
        assert_eq!(moved.namespace, None);
    })
    .await;
}

async fn purged(store: &Store) -> Vec<String> {
    store.purge_volumes().await.unwrap().into_iter().map(|(name, _)| name).collect()
}

#[tokio::test]
async fn deletion_is_logged_and_stays_pending_until_the_files_are_gone() {
    on_every_engine(async |store| {
        let row = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 1)).await);
        let in_use = VolumeDeletion::InUse(used_by(&row, false));
        assert_eq!(store.delete_volume(&alice(), &volume_name(1), at(1)).await.unwrap(), in_use);
        end(&store, &row).await;
        assert_eq!(purged(&store).await, [""; 0]);
        store.purge_volume(&volume_name(1)).await.unwrap();
        assert_eq!(names(&store, None).await.len(), 1, "only a volume whose deletion is decided is purged");

        assert_eq!(store.delete_volume(&alice(), &volume_name(1), at(1)).await.unwrap(), VolumeDeletion::Decided);
        assert_eq!(purged(&store).await, [volume_name(1)]);
        let logged = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        let entry = &logged[0].activity;
        assert_eq!((entry.action, entry.subject.as_str()), (ActivityAction::VolumeDeleted, &*volume_name(1)));
        let owner = alice().email().clone();
        assert_eq!((entry.act.actor_email.as_ref(), entry.owner_email.as_ref()), (Some(&owner), Some(&owner)));

        let next = created(launch(&store, &draft("alice@example.org", StorageKind::Kept, 2)).await);
        assert_eq!(next.volume, Some(volume_name(2)), "a launch after the deletion gets a new volume");
        store.purge_volume(&volume_name(1)).await.unwrap();
        store.purge_volume(&volume_name(2)).await.unwrap();
        assert_eq!(purged(&store).await, [""; 0]);
        assert_eq!(names(&store, None).await, [volume_name(2)]);
    })
    .await;
}

#[tokio::test]
async fn volumes_that_stay_pending_do_not_keep_others_from_being_purged() {
    on_every_engine(async |store| {
        let name =
            |number: u8| format!("work-{}{}aaaaaaaa", char::from(b'a' + number / 26), char::from(b'a' + number % 26));
        let all: BTreeSet<_> = (0..130).map(name).collect();
        for (number, name) in (0..).zip(&all) {
            let draft = draft(&format!("user{number}@example.org"), StorageKind::Kept, number);
            let row = created(launch(&store, &Instance { volume: Some(name.clone()), ..draft }).await);
            end(&store, &row).await;
            assert_eq!(store.delete_volume(&admin(), name, at(number.into())).await.unwrap(), VolumeDeletion::Decided);
        }
        let mut seen = BTreeSet::new();
        // A portion has 100 names. A name that 100 portions omit by chance is less likely than a broken machine.
        for _ in 0..100 {
            let portion = purged(&store).await;
            assert_eq!(portion.len(), 100);
            seen.extend(portion);
        }
        assert_eq!(seen, all);
    })
    .await;
}

#[tokio::test]
async fn retention_deletes_unused_volumes_and_nothing_else() {
    on_every_engine(async |store| {
        let launched_at = |number: u8, time: Timestamp| {
            let owner = format!("user{number}@example.org");
            Instance { created_at: time, ..draft(&owner, StorageKind::Kept, number) }
        };
        let old = created(launch(&store, &launched_at(1, at(0))).await);
        let used = created(launch(&store, &launched_at(2, at(0))).await);
        let recent = created(launch(&store, &launched_at(3, at(100))).await);
        end(&store, &old).await;
        end(&store, &recent).await;

        assert_eq!(store.observe_used_volumes(at(200), at(50)).await.unwrap(), 1);
        assert_eq!(store.observe_used_volumes(at(201), at(50)).await.unwrap(), 0, "at most once per interval");
        assert_eq!(store.purge_unused_volumes(at(100), at(300)).await.unwrap(), 1);
        assert_eq!(purged(&store).await, [volume_name(1)]);
        assert_eq!(names(&store, None).await, [volume_name(3), volume_name(2)]);

        assert_eq!(store.purge_unused_volumes(at(1000), at(1001)).await.unwrap(), 1, "not the one in use");
        assert_eq!(names(&store, None).await, [volume_name(2)]);
        end(&store, &used).await;
        let logged = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        let purged = logged.iter().filter(|entry| entry.activity.action == ActivityAction::VolumeDeleted);
        assert!(purged.clone().all(|entry| entry.activity.act.actor_email.is_none()));
        assert_eq!(purged.count(), 2);
    })
    .await;
}

#[tokio::test]
async fn announced_deletion_moves_only_to_a_later_time() {
    on_every_engine(async |store| {
        let draft = Instance { created_at: at(100), ..draft("alice@example.org", StorageKind::Kept, 1) };
        end(&store, &created(launch(&store, &draft).await)).await;
        let seconds = |seconds| Some(SignedDuration::from_secs(seconds));
        for (retention, announced) in [
            (seconds(50), Some(150)),
            (seconds(20), Some(150)),
            (Some(SignedDuration::from_millis(60_000)), Some(160)),
            (None, None),
            (seconds(30), Some(230)),
        ] {
            store.announce_retention(retention, at(200)).await.unwrap();
            store.announce_retention(retention, at(201)).await.unwrap();
            let listed = store.volume(&admin(), &volume_name(1)).await.unwrap().unwrap();
            assert_eq!(listed.volume.kept_until, announced.map(at), "{retention:?}");
            assert_eq!(store.purge_unused_volumes(at(200), at(announced.unwrap_or(10_000))).await.unwrap(), 0);
        }
        assert_eq!(store.purge_unused_volumes(at(100), at(231)).await.unwrap(), 0, "used again");
        assert_eq!(store.purge_unused_volumes(at(101), at(231)).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn volumes_are_listed_in_pages_newest_first() {
    on_every_engine(async |store| {
        for number in 0..5 {
            launch(&store, &draft(&format!("user{number}@example.org"), StorageKind::Kept, number)).await;
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.volumes(&admin(), None, &Page { limit: 2, after }).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.volume.volume_id);
            seen.extend(page.into_iter().map(|listed| listed.volume.name));
        }
        assert_eq!(seen, (0..5).rev().map(volume_name).collect::<Vec<_>>());
    })
    .await;
}
