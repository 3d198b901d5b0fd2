//! Asserts that SQLite uses an index for each statement and never sorts: costs do not grow with the number of rows.

#[cfg(feature = "test-postgres")]
mod postgres;
#[cfg(feature = "test-postgres")]
#[path = "../tests/conformance/server.rs"]
mod server;

use launcher_domain::{Class, ClassContent, EmailAddress, InstanceState, Scope};
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::filter::{ActivityFilter, InstanceFilter, Page, SearchText, StateFilter};
use crate::instances::{SortBy, SortOrder};
use crate::store::Store;
use crate::{
    activities, classes, dispatch, doctor, feed, hands, instances, join, launch, observe, overview, queue, snapshots,
    templates, volumes,
};

/// SQLite's names of the indexes that it creates for primary keys and unique columns.
const TEMPLATE_ID: &str = "sqlite_autoindex_workshop_templates_1";
const INSTANCE_ID: &str = "sqlite_autoindex_workshop_instances_1";
const K8S_NAME: &str = "sqlite_autoindex_workshop_instances_2";
const SETTINGS_HASH: &str = "sqlite_autoindex_template_settings_1";
const ACTIVITY_ID: &str = "sqlite_autoindex_activities_1";

struct Planner {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Planner {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite://{}", folder.path().join("plans.db").display())).await.unwrap();
        Self { store, _folder: folder }
    }

    async fn plan(&self, sql: &str) -> Vec<String> {
        let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"))).fetch_all(&self.store.pool).await;
        rows.unwrap().iter().map(|row| row.get::<String, _>("detail")).collect()
    }

    /// Asserts that the statement reads its rows only through this index, and does not sort.
    async fn assert_uses(&self, sql: &str, index: &str) {
        let plan = self.plan(sql).await;
        let access: Vec<_> = plan
            .iter()
            .filter(|step| step.starts_with("SCAN") || step.starts_with("SEARCH"))
            .filter(|step| [" ahead ", " launched ", " waiting "].iter().all(|alias| !step.contains(alias)))
            .collect();
        assert!(!access.is_empty(), "{sql}\n{plan:#?}");
        assert!(
            access.iter().all(|step| step.split(' ').any(|word| word == index)),
            "expected {index}:\n{sql}\n{plan:#?}"
        );
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "sorts:\n{sql}\n{plan:#?}");
        let position = plan.iter().find(|step| step.contains(" ahead "));
        assert!(
            position.is_none_or(|step| step.starts_with("SEARCH ahead USING COVERING INDEX workshop_instances_queue ")),
            "{plan:#?}"
        );
        let waiting = plan.iter().find(|step| step.contains(" waiting "));
        assert!(
            waiting.is_none_or(|step| step.starts_with("SEARCH waiting USING INDEX workshop_instances_state ")),
            "{plan:#?}"
        );
        let settings = plan.iter().find(|step| step.contains(" launched "));
        let by_hash = format!("SEARCH launched USING INDEX {SETTINGS_HASH} ");
        assert!(settings.is_none_or(|step| step.starts_with(&by_hash)), "{plan:#?}");
    }
}

fn bob() -> EmailAddress {
    EmailAddress::parse("bob@example.org").unwrap()
}

#[tokio::test]
async fn instance_lists_use_their_index() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    let (owner, template) = (Some(bob()), Some(Uuid::from_u128(1)));
    let states = [StateFilter::Live, StateFilter::Ended, StateFilter::All, StateFilter::Only(InstanceState::Running)];
    for state in states {
        let [all, of_owner, of_template] = match state {
            StateFilter::Live => {
                ["workshop_instances_live", "workshop_instances_owner_live", "workshop_instances_template_live"]
            }
            StateFilter::All => [INSTANCE_ID, "workshop_instances_owner", "workshop_instances_template"],
            StateFilter::Ended | StateFilter::Only(_) | StateFilter::Outdated => {
                ["workshop_instances_state", "workshop_instances_owner_state", "workshop_instances_template_state"]
            }
        };
        let filter = |owner_email: &Option<EmailAddress>, template_id| InstanceFilter {
            state,
            owner_email: owner_email.clone(),
            template_id,
            search: None,
        };
        for descending in [true, false] {
            let order = SortOrder { by: SortBy::Launch, descending };
            let sql = instances::sorted(Scope::Everyone, &filter(&None, None), order, None, 50, rules);
            planner.assert_uses(sql.text(), all).await;
        }
        for after in [None, Some(Uuid::from_u128(2))] {
            let page = Page { limit: 50, after };
            let (me, admin) = (bob(), Scope::Everyone);
            for (scope, filter, index) in [
                (Scope::Owner(&me), filter(&None, None), of_owner),
                (admin, filter(&None, None), all),
                (admin, filter(&owner, None), of_owner),
                (admin, filter(&None, template), of_template),
            ] {
                planner.assert_uses(instances::list(scope, &filter, &page, rules).text(), index).await;
            }
        }
    }
}

#[tokio::test]
async fn list_by_owner_and_template_needs_no_scan_or_sort() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    for state in [StateFilter::Live, StateFilter::All, StateFilter::Only(InstanceState::Queued)] {
        let filter =
            InstanceFilter { state, owner_email: Some(bob()), template_id: Some(Uuid::from_u128(1)), search: None };
        let sql = instances::list(Scope::Everyone, &filter, &Page { limit: 50, after: None }, rules);
        let plan = planner.plan(sql.text()).await;
        assert!(plan.iter().all(|step| !step.contains("SCAN") || step.starts_with("CORRELATED SCALAR")), "{plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}

#[tokio::test]
async fn outdated_instances_are_found_by_their_index() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    let filter = InstanceFilter { state: StateFilter::Outdated, ..InstanceFilter::default() };
    let page = Page { limit: 500, after: None };
    let (list, count) =
        (instances::list(Scope::Everyone, &filter, &page, rules), instances::count(Scope::Everyone, &filter, rules));
    planner.assert_uses(list.text(), "workshop_instances_outdated").await;
    let plan = planner.plan(count.text()).await;
    assert!(plan.iter().any(|step| step.contains("workshop_instances_outdated")), "{plan:#?}");
}

#[tokio::test]
async fn search_and_count_use_the_index_of_the_other_filters() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    for (state, index) in [
        (StateFilter::Live, "workshop_instances_live"),
        (StateFilter::All, INSTANCE_ID),
        (StateFilter::Ended, "workshop_instances_state"),
        (StateFilter::Only(InstanceState::Running), "workshop_instances_state"),
    ] {
        let filter = InstanceFilter { state, search: SearchText::new("bob"), ..InstanceFilter::default() };
        let list = |after| instances::list(Scope::Everyone, &filter, &Page { limit: 50, after }, rules);
        let sorted = instances::sorted(Scope::Everyone, &filter, SortOrder::NEWEST, None, 50, rules);
        let count = instances::count(Scope::Everyone, &filter, rules);
        for (sql, is_list) in [(list(None), true), (list(Some(Uuid::nil())), true), (sorted, true), (count, false)] {
            let plan = planner.plan(sql.text()).await;
            let access: Vec<_> = plan.iter().filter(|step| step.contains(" workshop_instances USING ")).collect();
            assert!(access.iter().all(|step| step.split(' ').any(|word| word == index)), "{index}\n{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
            // The list reads only the instances that the search examines.
            let is_bounded = access.iter().any(|step| step.starts_with("SEARCH") && step.contains("instance_id>?"));
            assert!(is_bounded || !is_list, "{plan:#?}");
        }
    }
    let states = planner.plan(instances::states(Scope::Everyone, Uuid::from_u128(1)).text()).await;
    assert!(states.iter().any(|step| step.contains("workshop_instances_template_state (template_id=? AND state=?)")));
}

#[tokio::test]
async fn frequent_statements_use_their_index() {
    let planner = Planner::new().await;
    let me = bob();
    let everyone = Scope::Everyone;
    let owner = Scope::Owner(&me);
    for (sql, index) in [
        (instances::by_name(owner, "a").text(), K8S_NAME),
        (instances::by_name(everyone, "a").text(), K8S_NAME),
        (feed::since(everyone, 1, 10).text(), "workshop_instances_feed"),
        (feed::since(owner, 1, 10).text(), "workshop_instances_owner_feed"),
        (feed::live(everyone, 1, 9, 10).text(), "workshop_instances_live_feed"),
        (feed::live(owner, 1, 9, 10).text(), "workshop_instances_owner_feed"),
        (feed::QUEUE, "workshop_instances_queue"),
        (feed::queue_of(owner).text(), "workshop_instances_owner_state"),
        (feed::QUEUED_IDS, "workshop_instances_queue"),
        (instances::CHANGE.as_str(), "workshop_instances_feed"),
        (launch::BY_NAME, K8S_NAME),
        (launch::HELD, "workshop_instances_owner_state"),
        (launch::KEY, "sqlite_autoindex_idempotency_keys_1"),
        (dispatch::NEXT, "workshop_instances_queue"),
        (dispatch::PENDING, "workshop_instances_pending"),
        (dispatch::PROMOTE, INSTANCE_ID),
        (dispatch::APPLIED, INSTANCE_ID),
        (instances::USED, INSTANCE_ID),
        (dispatch::STARTING, "workshop_instances_state"),
        (observe::WITH_WORKSHOP, "workshop_instances_state"),
        (observe::OLD_FAILURES, "workshop_instances_state"),
        (observe::OLD, "workshop_instances_ended"),
        (observe::OLD_WITHDRAWN, "workshop_instances_withdrawn"),
        (templates::SETTINGS_KNOWN, SETTINGS_HASH),
        (observe::STATES, "workshop_instances_state"),
        (doctor::OLDEST, "workshop_instances_queue"),
    ] {
        planner.assert_uses(sql, index).await;
    }
    for (sql, index) in [(observe::PURGE, "_ended "), (observe::PURGE_WITHDRAWN, "_withdrawn ")] {
        let purge = planner.plan(sql).await;
        assert!(purge.iter().any(|step| step.contains(&format!("INDEX workshop_instances{index}"))), "{purge:#?}");
        let costly = |step: &String| step.starts_with("SCAN") || step.contains("TEMP B-TREE");
        assert!(!purge.iter().any(costly), "{purge:#?}");
    }
    for sql in [templates::UNUSED_SETTINGS, templates::PURGE_SETTINGS] {
        let plan = planner.plan(sql).await;
        assert!(
            plan.iter().any(|step| step.contains("INDEX workshop_instances_settings (settings_hash=?)")),
            "{plan:#?}"
        );
    }
}

#[tokio::test]
async fn sorted_list_of_live_instances_uses_index() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    let running = StateFilter::Only(InstanceState::Running);
    let filters = [(StateFilter::Live, "_live"), (running, "_state")];
    for by in [SortBy::Owner, SortBy::Template, SortBy::State, SortBy::End] {
        for (state, index) in filters {
            let filter = InstanceFilter { state, ..InstanceFilter::default() };
            let order = SortOrder { by, descending: false };
            let sql = instances::sorted(Scope::Everyone, &filter, order, None, 50, rules);
            let plan = planner.plan(sql.text()).await;
            // The plan lists two accesses: one reads the rows of the page by identifier, the other finds these
            // identifiers.
            let access: Vec<_> = plan.iter().filter(|step| step.contains(" workshop_instances USING ")).collect();
            let [rows, keys] = access[..] else { panic!("{plan:#?}") };
            assert!(rows.contains(&format!("{INSTANCE_ID} (instance_id=?)")), "{plan:#?}");
            assert!(keys.split(' ').any(|word| word.ends_with(index)), "expected {index}: {by:?}\n{plan:#?}");
        }
    }
}

/// Statistics may sort for their grouping, but only rows that an index found: launches of the day, live instances, and
/// instances that ended on that day.
#[tokio::test]
async fn overview_statements_use_their_index() {
    let planner = Planner::new().await;
    let since = jiff::Timestamp::UNIX_EPOCH;
    for (sql, step) in [
        (overview::launches(Scope::Everyone, since), format!("INDEX {INSTANCE_ID} (instance_id>?)")),
        (
            overview::start_times(Uuid::from_u128(1), 200),
            "INDEX workshop_instances_template (template_id=?)".to_owned(),
        ),
        (overview::live(Scope::Everyone, since), "INDEX workshop_instances_state (state=?)".to_owned()),
        (overview::ended(Scope::Everyone, since), "INDEX workshop_instances_ended (state=? AND ended_at>?)".to_owned()),
    ] {
        let plan = planner.plan(sql.text()).await;
        let access: Vec<_> = plan.iter().filter(|step| !step.starts_with("USE TEMP B-TREE FOR GROUP BY")).collect();
        assert!(matches!(access[..], [only] if only.contains(&step)), "expected {step}:\n{}\n{plan:#?}", sql.text());
    }
}

#[tokio::test]
async fn template_statements_use_their_index() {
    let planner = Planner::new().await;
    let first = Page { limit: 50, after: None };
    let first_active = templates::list(None, false, &first);
    planner.assert_uses(first_active.text(), "workshop_templates_listed").await;
    planner.assert_uses(templates::list(None, true, &first).text(), "workshop_templates_newest").await;
    planner.assert_uses(templates::BY_ID, TEMPLATE_ID).await;
    planner.assert_uses(templates::BY_SLUG, "workshop_templates_slug").await;
    planner.assert_uses(&templates::SAVE, TEMPLATE_ID).await;
    for (with_inactive, index) in [(false, "workshop_templates_listed"), (true, "workshop_templates_newest")] {
        let sql = templates::list(None, with_inactive, &Page { limit: 50, after: Some(Uuid::from_u128(1)) });
        let plan = planner.plan(sql.text()).await;
        assert!(plan.iter().any(|step| step.starts_with("SEARCH") && step.contains(index)), "{plan:#?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}

fn class() -> Class {
    let body = [("name".to_owned(), "x".into())].into_iter().collect();
    let (now, content) = (jiff::Timestamp::UNIX_EPOCH, ClassContent::read(&body, None).unwrap());
    Class { class_id: Uuid::from_u128(1), content, version: 1, created_by: bob(), created_at: now, updated_at: now }
}

#[tokio::test]
async fn class_statements_use_an_index() {
    let planner = Planner::new().await;
    let people = launcher_domain::AdminList::parse("root@example.org").unwrap();
    let (member, admin) = (people.caller(bob()), people.caller(EmailAddress::parse("root@example.org").unwrap()));
    let page = Page { limit: 50, after: Some(Uuid::from_u128(2)) };
    let class = class();
    let scope = Scope::Class { class_id: class.class_id, owner: None };
    let filter = InstanceFilter::default();
    for sql in [
        classes::list(&member, false, &page).text(),
        classes::list(&admin, false, &page).text(),
        classes::MEMBERS,
        classes::OF_CREATOR,
        join::CURRENT,
        join::BY_CODE,
        join::CLASS,
        join::OF_PERSON,
        join::COUNT,
        &join::SAVE,
        &classes::SAVE,
        classes::SIGNAL,
        feed::CHANGED,
        hands::HANDS,
        hands::HAND,
        hands::DELETE_HAND,
        &hands::TAKE_HAND,
        hands::MESSAGE,
        hands::DELETE_MESSAGE,
        classes::CURRENT,
        hands::OLD_HANDS,
        hands::PURGE_HANDS,
        hands::OLD_MESSAGES,
        hands::PURGE_MESSAGES,
        classes::attendance(&class, None).text(),
        classes::attendance(&class, Some(class.created_at)).text(),
        launch::LIVE_OF_TEMPLATE,
        launch::HELD_IN_CLASS,
        queue::FIRST,
        queue::LAST_OF_CLASS,
        launch::MEMBER,
        instances::list(scope, &filter, &page, planner.store.search_rules()).text(),
    ] {
        let plan = planner.plan(sql).await;
        assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{sql}\n{plan:#?}");
    }
}

#[tokio::test]
async fn activity_log_statements_use_their_index() {
    let planner = Planner::new().await;
    for after in [None, Some(7)] {
        let page = Page { limit: 50, after };
        let filter = |person, subject: Option<&str>| ActivityFilter { person, subject: subject.map(str::to_owned) };
        planner.assert_uses(activities::list(&filter(None, None), &page).text(), ACTIVITY_ID).await;
        planner.assert_uses(activities::list(&filter(None, Some("a")), &page).text(), "activities_subject").await;
        for subject in [None, Some("a")] {
            let plan = planner.plan(activities::list(&filter(Some(bob()), subject), &page).text()).await;
            assert!(plan.iter().any(|step| step.starts_with("MERGE")), "{plan:#?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
    planner.assert_uses(activities::DOWNLOADS, "activities_owner").await;
    planner.assert_uses(activities::OLD, "activities_at").await;
    let purge = planner.plan(activities::PURGE).await;
    assert!(purge.iter().any(|step| step.contains("activities_at (at<?)")), "{purge:#?}");
    assert!(!purge.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{purge:#?}");
}

#[tokio::test]
async fn snapshots_use_their_indexes() {
    let planner = Planner::new().await;
    planner.assert_uses(snapshots::ENDING, "workshop_instances_snapshot").await;
    planner.assert_uses(snapshots::OVERDUE, "workshop_instances_snapshot").await;
    planner.assert_uses(snapshots::HELD, "snapshots_owner").await;
    planner.assert_uses(snapshots::OLD, "snapshots_old").await;
    planner.assert_uses(snapshots::ANNOUNCE, "snapshots_kept").await;
    // Sorts the few rows whose deletion is pending.
    let deleted = planner.plan(snapshots::DELETED).await;
    assert!(deleted.iter().any(|step| step.contains("INDEX snapshots_deleted")), "{deleted:#?}");
    let owner = bob();
    for (scope, index) in [(Scope::Everyone, "sqlite_autoindex_snapshots_1"), (Scope::Owner(&owner), "snapshots_owner")]
    {
        let sql = snapshots::list(scope, None, &Page { limit: 50, after: Some(Uuid::from_u128(1)) });
        let plan = planner.plan(sql.text()).await;
        assert!(plan.iter().any(|step| step.contains(index)), "expected {index}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}

#[tokio::test]
async fn secret_parameters_are_found_by_their_instance() {
    let planner = Planner::new().await;
    planner.assert_uses(dispatch::SECRETS, INSTANCE_ID).await;
}

#[tokio::test]
async fn volumes_use_their_indexes() {
    let planner = Planner::new().await;
    planner.assert_uses(volumes::UNUSED, "volumes_unused").await;
    for sql in [volumes::ANNOUNCE, volumes::ANNOUNCE_FIRST, volumes::KEEP] {
        planner.assert_uses(sql, "volumes_kept").await;
    }
    // Sorts the few rows whose deletion is pending.
    let deleted = planner.plan(volumes::DELETED).await;
    assert!(deleted.iter().any(|step| step.contains("INDEX volumes_deleted")), "{deleted:#?}");
    planner.assert_uses(volumes::USED_BY, "workshop_instances_volume").await;
    planner.assert_uses(volumes::USED_BY_OTHER, "workshop_instances_volume").await;
    planner.assert_uses(launch::RESUME, "workshop_instances_feed").await;
    for sql in [volumes::TOUCH, observe::FORGOTTEN] {
        let plan = planner.plan(sql).await;
        assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{sql}: {plan:#?}");
    }
    let touch = planner.plan(volumes::TOUCH).await;
    assert!(touch.iter().any(|step| step.contains("INDEX workshop_instances_volume ")), "{touch:#?}");
    let owner = bob();
    for (scope, index) in
        [(Scope::Everyone, "sqlite_autoindex_volumes_1"), (Scope::Owner(&owner), "volumes_owner_list")]
    {
        let sql = volumes::list(scope, None, &Page { limit: 50, after: Some(Uuid::from_u128(1)) });
        let plan = planner.plan(sql.text()).await;
        let user = plan.iter().find(|step| step.contains(" used ")).unwrap();
        assert!(user.contains("USING INDEX workshop_instances_volume "), "{plan:#?}");
        assert!(plan.iter().any(|step| step.contains(index)), "expected {index}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
    }
}
