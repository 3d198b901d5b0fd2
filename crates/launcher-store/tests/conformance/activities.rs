//! Activity log: one entry per change, and no entry without a change.

use launcher_domain::{Act, Activity, ActivityAction, Caller, EndReason, Instance, InstanceState, Template};
use launcher_store::{ActivityFilter, LaunchRules, LoggedActivity, Page, Store};
use sqlx::{AnyConnection, Connection, Executor};

use crate::support::*;

/// Returns all entries, newest first.
async fn entries(store: &Store) -> Vec<Activity> {
    told(store, &ActivityFilter::default()).await
}

async fn told(store: &Store, filter: &ActivityFilter) -> Vec<Activity> {
    let entries = store.activities(filter, &ALL_ENTRIES).await.unwrap();
    assert!(entries.is_sorted_by(|newer, older| newer.activity_id > older.activity_id));
    entries.into_iter().map(|entry| entry.activity).collect()
}

fn subjects(entries: &[Activity]) -> Vec<(ActivityAction, &str)> {
    entries.iter().map(|entry| (entry.action, entry.subject.as_str())).collect()
}

fn by(caller: &Caller, seconds: i64) -> Act {
    Act { actor_email: Some(caller.email().clone()), at: at(seconds) }
}

#[tokio::test]
async fn launch_extension_and_end_are_logged() {
    on_every_engine(async |store| {
        let row = launched(&store, "alice@example.org").await;
        let running =
            changed(&store, &row, |row| (row.state, row.expires_at) = (InstanceState::Running, Some(at(20)))).await;
        let mut longer = running.clone();
        longer.expires_at = Some(at(80));
        let longer = store.change_instance(&running, &longer, &by(&alice(), 30)).await.unwrap().unwrap();
        let ending = longer.terminate(EndReason::Admin, at(40)).unwrap();
        store.change_instance(&longer, &ending, &by(&admin(), 40)).await.unwrap().unwrap();

        let entry = |act, action, detail: Option<&str>| Activity {
            act,
            action,
            subject: row.k8s_name.clone(),
            subject_name: row.settings.name.clone(),
            owner_email: Some(row.owner_email.clone()),
            detail: detail.map(str::to_owned),
        };
        let expected = [
            entry(by(&admin(), 40), ActivityAction::Ended, Some("admin")),
            entry(by(&alice(), 30), ActivityAction::Extended, Some(&format!("{:.3}", at(80)))),
            entry(by(&alice(), 0), ActivityAction::Launched, None),
        ];
        assert_eq!(entries(&store).await[..3], expected);
    })
    .await;
}

#[tokio::test]
async fn refused_and_repeated_requests_are_not_logged() {
    on_every_engine(async |store| {
        let first =
            store.launch_own(&instance("alice@example.org"), &NO_LIMITS, Some(&key("key", "hash"))).await.unwrap();
        let before = entries(&store).await;
        for (hash, rules) in [
            ("hash", NO_LIMITS),
            ("another", NO_LIMITS),
            ("new", LaunchRules { max_per_user: Some(1), ..NO_LIMITS }),
            ("new", LaunchRules { max_queued: 1, ..NO_LIMITS }),
        ] {
            let key = key(if hash == "new" { "new" } else { "key" }, hash);
            store.launch_own(&instance("alice@example.org"), &rules, Some(&key)).await.unwrap();
        }
        let mut same_name = instance("alice@example.org");
        let row = created(first);
        same_name.k8s_name.clone_from(&row.k8s_name);
        store.launch_own(&same_name, &NO_LIMITS, None).await.unwrap();
        assert_eq!(entries(&store).await, before, "nothing was launched");

        let ended = ended(&store, &row, 60).await;
        let before = entries(&store).await;
        assert_eq!(before[0].action, ActivityAction::Ended);
        let late = row.terminate(EndReason::Admin, at(70)).unwrap();
        assert_eq!(store.change_instance(&row, &late, &by(&admin(), 70)).await.unwrap(), None);
        changed(&store, &ended, |row| row.report.log_tail = Some("more".to_owned())).await;
        assert!(!store.seed_template(&template(1)).await.unwrap());
        assert!(!store.create_template(&template(1), None).await.unwrap());
        let other = Template { version: 3, ..template(1) };
        assert!(!store.save_template(&Template { version: 2, ..template(1) }, &other, &admin(), None).await.unwrap());
        assert_eq!(entries(&store).await, before);
    })
    .await;
}

#[tokio::test]
async fn template_change_is_logged_and_seeded_template_has_no_actor() {
    on_every_engine(async |store| {
        store.seed_template(&template(2)).await.unwrap();
        let mut changed = Template { version: 2, updated_at: at(5), ..template(2) };
        changed.settings.image = "other:2".to_owned();
        assert!(store.save_template(&template(2), &changed, &admin(), None).await.unwrap());
        let archived = Template { active: false, version: 3, updated_at: at(6), ..changed.clone() };
        assert!(store.save_template(&changed, &archived, &admin(), None).await.unwrap());

        let told = entries(&store).await;
        let (id, first) = (template(2).template_id.to_string(), template(1).template_id.to_string());
        let expected = [
            (ActivityAction::TemplateArchived, id.as_str()),
            (ActivityAction::TemplateChanged, &id),
            (ActivityAction::TemplateCreated, &id),
            (ActivityAction::TemplateCreated, &first),
        ];
        assert_eq!(subjects(&told), expected);
        let acts: Vec<_> = told.iter().map(|entry| entry.act.clone()).collect();
        assert_eq!(acts, [by(&admin(), 6), by(&admin(), 5), Act { actor_email: None, at: at(0) }, by(&admin(), 0)]);
        assert_eq!(told[1].detail.as_deref(), Some("image"));
        assert!(told.iter().all(|entry| entry.owner_email.is_none()));
    })
    .await;
}

#[tokio::test]
async fn activity_filter_selects_person_and_subject() {
    on_every_engine(async |store| {
        let hers = launched(&store, "alice@example.org").await;
        let his = launched(&store, "bob@example.org").await;
        let end = his.terminate(EndReason::Admin, at(40)).unwrap();
        store.change_instance(&his, &end, &by(&alice(), 40)).await.unwrap().unwrap();
        let end = hers.terminate(EndReason::Expired, at(50)).unwrap();
        store.change_instance(&hers, &end, &by_the_service()).await.unwrap().unwrap();

        let found = async |person: Option<&Caller>, subject: Option<&str>| {
            let person = person.map(|person| person.email().clone());
            told(&store, &ActivityFilter { person, subject: subject.map(str::to_owned) }).await
        };
        use ActivityAction::{Ended, Launched};
        let (hers, his) = (hers.k8s_name.as_str(), his.k8s_name.as_str());
        let of_alice = found(Some(&alice()), None).await;
        assert_eq!(subjects(&of_alice), [(Ended, hers), (Ended, his), (Launched, hers)]);
        assert_eq!(subjects(&found(Some(&bob()), None).await), [(Ended, his), (Launched, his)]);
        assert_eq!(subjects(&found(None, Some(hers)).await), [(Ended, hers), (Launched, hers)]);
        assert_eq!(subjects(&found(Some(&alice()), Some(his)).await), [(Ended, his)]);
        assert!(found(Some(&caller("carol@example.org")), None).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn activity_pages_list_each_entry_once_during_writes() {
    on_every_engine(async |store| {
        for _ in 0..7 {
            launched(&store, "alice@example.org").await;
        }
        let filter = ActivityFilter { person: Some(alice().email().clone()), subject: None };
        let expected = told(&store, &filter).await;
        let mut seen: Vec<LoggedActivity> = Vec::new();
        loop {
            let after = seen.last().map(|entry| entry.activity_id);
            let page = store.activities(&filter, &Page { limit: 3, after }).await.unwrap();
            launched(&store, "alice@example.org").await;
            let last = page.len() < 3;
            seen.extend(page);
            if last {
                break;
            }
        }
        assert_eq!(seen.into_iter().map(|entry| entry.activity).collect::<Vec<_>>(), expected);
    })
    .await;
}

#[tokio::test]
async fn purge_removes_old_entries_in_batches_and_keeps_instances() {
    on_every_database(async |store, url| {
        let kept = launched(&store, "alice@example.org").await;
        copy_instance(url, &kept.k8s_name, 1001).await;
        // This entry is written later than the others, but a slow clock gives it an older time.
        let old = Act { actor_email: None, at: at(-1) };
        let end = kept.terminate(EndReason::Expired, at(50)).unwrap();
        store.change_instance(&kept, &end, &old).await.unwrap().unwrap();
        let recent = launched(&store, "bob@example.org").await;
        let end = recent.terminate(EndReason::Owner, at(50)).unwrap();
        store.change_instance(&recent, &end, &by(&bob(), 1)).await.unwrap().unwrap();

        assert_eq!(store.purge_activities(at(1)).await.unwrap(), 1005);
        assert_eq!(subjects(&entries(&store).await), [(ActivityAction::Ended, recent.k8s_name.as_str())]);
        assert_eq!(store.purge_activities(at(1)).await.unwrap(), 0);
        assert!(store.observe_instance(&kept.k8s_name).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn log_entries_with_future_time_do_not_block_the_purge_of_old_ones() {
    on_every_database(async |store, url| {
        // These entries are written first but have a later time, and do not fit into one batch of the purge.
        let ahead = Instance { created_at: at(90), ..instance("alice@example.org") };
        let mut young = vec![created(store.launch_own(&ahead, &NO_LIMITS, None).await.unwrap()).k8s_name];
        young.extend(copy_instance(url, &ahead.k8s_name, 500).await);
        launched(&store, "bob@example.org").await;

        // Two entries are removed: that of the template, and that of bob's instance.
        assert_eq!(store.purge_activities(at(50)).await.unwrap(), 2);
        young.reverse();
        let kept: Vec<_> = entries(&store).await.into_iter().map(|entry| entry.subject).collect();
        assert_eq!(kept, young);
    })
    .await;
}

#[tokio::test]
async fn instance_change_is_rolled_back_when_its_activity_log_entry_fails() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut other = AnyConnection::connect(&database.url).await.unwrap();
        other.execute("ALTER TABLE activities RENAME TO elsewhere").await.unwrap();

        let draft = instance("alice@example.org");
        store.launch_own(&draft, &NO_LIMITS, None).await.unwrap_err();
        assert_eq!(store.observe_instance(&draft.k8s_name).await.unwrap(), None);
        let end = row.terminate(EndReason::Owner, at(9)).unwrap();
        store.change_instance(&row, &end, &by(&alice(), 9)).await.unwrap_err();
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row));
        let archived = Template { active: false, version: 2, ..template(1) };
        store.save_template(&template(1), &archived, &admin(), None).await.unwrap_err();
        store.create_template(&template(2), None).await.unwrap_err();
        assert_eq!(store.templates(None, true, &EVERYTHING).await.unwrap(), [template(1)]);

        other.execute("ALTER TABLE elsewhere RENAME TO activities").await.unwrap();
        other.close().await.unwrap();
        assert_eq!(entries(&store).await.len(), 2);
        store.close().await;
    }
}
