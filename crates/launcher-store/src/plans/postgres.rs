//! Asserts that PostgreSQL uses an index for each statement on large tables, and never a sequential scan.

use std::sync::{Arc, Weak};

use launcher_domain::{InstanceState, Scope};
use sqlx::{Executor, Row};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::bob;
use super::server::FreshDatabase;
use crate::filter::{ActivityFilter, InstanceFilter, Page, SearchText, StateFilter};
use crate::instances::{SortBy, SortOrder};
use crate::sql::Sql;
use crate::store::Store;
use crate::{activities, dispatch, feed, instances, launch, observe, overview, templates};

/// 10,000 instances of 100 owners: most of them terminated, some running, about 1,000 queued. Also 10,000 templates,
/// most of them archived.
const ROWS: &str = "
    INSERT INTO workshop_templates
        SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), '', repeat('x', 300), (n % 20 = 0)::int, 1,
            'root@example.org', n, n FROM generate_series(1, 10000) n;
    INSERT INTO template_settings SELECT 'hash-' || n, repeat('x', 300) FROM generate_series(1, 10000) n;
    INSERT INTO workshop_instances (instance_id, k8s_name, owner_email, template_id, settings_hash, state, created_at,
            dispatched_at, ended_at, spec_version, applied_version, revision, queue_number)
        SELECT '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'name-' || n,
            CASE n % 100 WHEN 1 THEN 'bob' ELSE 'user' || n % 100 END || '@example.org',
            '00000000-0000-4000-8000-' || lpad((n % 50 + 1)::text, 12, '0'), 'hash-' || n,
            CASE WHEN n < 8800 THEN 'terminated' WHEN n < 8970 THEN 'running' WHEN n < 8980 THEN 'failed'
                 WHEN n < 8990 THEN 'starting' ELSE 'queued' END,
            n, CASE WHEN n % 40 > 0 AND n < 8990 THEN n END, n, (n < 8990)::int, (n < 8985)::int, n, n
        FROM generate_series(1, 10000) n;
    INSERT INTO idempotency_keys
        SELECT owner_email, 'key-' || queue_number, 'hash', k8s_name, 1 FROM workshop_instances;
    INSERT INTO activities
        SELECT revision, revision, CASE WHEN queue_number % 3 > 0 THEN owner_email END, 'launched', k8s_name, 'Name',
            owner_email, NULL FROM workshop_instances;
    INSERT INTO launch_gate SELECT DISTINCT owner_email, 1 FROM workshop_instances;
    ANALYZE";

struct Planner {
    store: Store,
    _database: Arc<FreshDatabase>,
}

/// The database of the tests that run at the same time. They only read it, and filling it takes long.
static DATABASE: Mutex<Weak<FreshDatabase>> = Mutex::const_new(Weak::new());

impl Planner {
    async fn new() -> Self {
        let mut shared = DATABASE.lock().await;
        if let Some(database) = shared.upgrade() {
            return Self { store: Store::open(&database.url()).await.unwrap(), _database: database };
        }
        let database = Arc::new(FreshDatabase::create().await);
        let store = Store::open(&database.url()).await.unwrap();
        store.pool.execute(ROWS).await.unwrap();
        *shared = Arc::downgrade(&database);
        Self { store, _database: database }
    }

    async fn plan(&self, sql: Sql) -> String {
        let rows = sql.explain().statement().unwrap().fetch_all(&self.store.pool).await.unwrap();
        let plan: String = rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect();
        // The subquery that counts queue positions must use the queue's index.
        let position = plan.lines().find(|line| line.contains(" ahead "));
        assert!(position.is_none_or(|line| line.contains(" workshop_instances_queue ")), "{plan}");
        plan
    }

    /// Asserts that the statement uses this index, or one whose name begins with it.
    async fn assert_uses(&self, sql: Sql, index: &str) {
        let text = sql.text().to_owned();
        let plan = self.plan(sql).await;
        assert!(!plan.contains("Seq Scan"), "{text}\n{plan}");
        let used = plan.lines().any(|line| line.split(' ').any(|word| word.starts_with(index)));
        assert!(used, "expected {index}:\n{text}\n{plan}");
    }
}

/// Returns a constant statement with its arguments.
fn with<const N: usize>(text: &'static str, values: [&'static str; N]) -> Sql {
    let mut sql = Sql::new(text);
    for value in values {
        match value.parse::<i64>() {
            Ok(number) => sql.argument(number),
            Err(_) => sql.argument(value),
        }
    }
    sql
}

#[tokio::test]
async fn outdated_instances_are_found_without_sequential_scan() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    let filter = InstanceFilter { state: StateFilter::Outdated, ..InstanceFilter::default() };
    let list = instances::list(Scope::Everyone, &filter, &Page { limit: 500, after: None }, rules);
    for sql in [list, instances::count(Scope::Everyone, &filter, rules)] {
        let plan = planner.plan(sql).await;
        assert!(!plan.contains("Seq Scan on workshop_instances"), "{plan}");
    }
    planner.store.close().await;
}

#[tokio::test]
async fn instance_lists_need_no_sequential_scan() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    let me = bob();
    let template = Some(Uuid::parse_str("00000000-0000-4000-8000-000000000007").unwrap());
    let states = [StateFilter::Live, StateFilter::Ended, StateFilter::All, StateFilter::Only(InstanceState::Running)];
    for state in states {
        for after in [None, Some(Uuid::parse_str("00000000-0000-7000-8000-000000005000").unwrap())] {
            let page = Page { limit: 50, after };
            for (scope, template_id) in
                [(Scope::Owner(&me), None), (Scope::Everyone, None), (Scope::Everyone, template)]
            {
                let filter = InstanceFilter { state, owner_email: None, template_id, search: None };
                let plan = planner.plan(instances::list(scope, &filter, &page, rules)).await;
                assert!(!plan.contains("Seq Scan"), "{state:?} {scope:?}\n{plan}");
                let filter = InstanceFilter { search: SearchText::new("bob"), ..filter };
                let plan = planner.plan(instances::list(scope, &filter, &page, rules)).await;
                assert!(!plan.contains("Seq Scan"), "search: {state:?} {scope:?}\n{plan}");
                let is_bounded = plan.lines().any(|line| line.contains("Index Cond") && line.contains("COALESCE"));
                assert!(is_bounded, "search: {state:?} {scope:?}\n{plan}");
            }
        }
    }
    planner.store.close().await;
}

#[tokio::test]
async fn frequent_statements_use_their_index() {
    let planner = Planner::new().await;
    let (me, everyone) = (bob(), Scope::Everyone);
    let owner = Scope::Owner(&me);
    let id = "00000000-0000-7000-8000-000000009995";
    for (sql, index) in [
        (instances::by_name(owner, "name-1"), "workshop_instances_k8s_name_key"),
        (instances::by_name(everyone, "name-1"), "workshop_instances_k8s_name_key"),
        (feed::since(everyone, 9990, 100), "workshop_instances_feed"),
        (feed::since(owner, 9990, 100), "workshop_instances_owner_feed"),
        (feed::live(everyone, 1, 9999, 100), "workshop_instances_"),
        (feed::live(owner, 1, 9999, 100), "workshop_instances_"),
        (with(feed::QUEUE, []), "workshop_instances_queue"),
        (feed::queue_of(owner), "workshop_instances_"),
        (with(feed::QUEUED_IDS, []), "workshop_instances_queue"),
        (with(launch::BY_NAME, ["name-1"]), "workshop_instances_k8s_name_key"),
        (with(launch::HELD, ["bob@example.org"]), "workshop_instances_owner_"),
        (with(launch::QUEUED, []), "workshop_instances_"),
        (with(launch::QUEUED_IN, [""]), "workshop_instances_"),
        (with(launch::KEY, ["bob@example.org", "key-1"]), "idempotency_keys_pkey"),
        (with(dispatch::STARTING, []), "workshop_instances_state"),
        (with(dispatch::NEXT, ["10"]), "workshop_instances_queue"),
        (with(dispatch::PENDING, ["0", "100"]), "workshop_instances_pending"),
        (with(dispatch::PROMOTE, ["1", "1", id]), "workshop_instances_"),
        (with(dispatch::APPLIED, ["1", "uid", id]), "workshop_instances_pkey"),
        (with(dispatch::SECRETS, [id]), "workshop_instances_pkey"),
        (with(observe::WITH_WORKSHOP, []), "workshop_instances_"),
        (with(observe::OLD_FAILURES, [id, "5"]), "workshop_instances_"),
        (with(observe::OLD, ["5"]), "workshop_instances_ended"),
        (with(observe::PURGE, ["5"]), "workshop_instances_ended"),
        (with(observe::OLD_WITHDRAWN, ["5"]), "workshop_instances_"),
        (with(observe::PURGE_WITHDRAWN, ["5"]), "workshop_instances_"),
    ] {
        planner.assert_uses(sql, index).await;
    }
    planner.store.close().await;
}

#[tokio::test]
async fn sorted_list_of_live_instances_uses_index() {
    let planner = Planner::new().await;
    let rules = planner.store.search_rules();
    for by in [SortBy::Launch, SortBy::Owner, SortBy::Template, SortBy::State, SortBy::End] {
        for state in [StateFilter::Live, StateFilter::Only(InstanceState::Running)] {
            let filter = InstanceFilter { state, ..InstanceFilter::default() };
            let order = SortOrder { by, descending: true };
            let sql = instances::sorted(Scope::Everyone, &filter, order, None, 50, rules);
            planner.assert_uses(sql, "workshop_instances_").await;
        }
    }
    planner.store.close().await;
}

#[tokio::test]
async fn overview_statements_use_their_index() {
    let planner = Planner::new().await;
    // The rows have times of 1 to 10,000 ms after the epoch, and identifiers with the time 0. Launches since 1 ms and
    // ends since 8,700 ms are therefore few or none, as in a large database.
    let since = |millis| jiff::Timestamp::from_millisecond(millis).unwrap();
    let everyone = Scope::Everyone;
    planner.assert_uses(overview::launches(everyone, since(1)), "workshop_instances_pkey").await;
    planner.assert_uses(overview::start_times(Uuid::from_u128(1), 200), "workshop_instances_template").await;
    planner.assert_uses(overview::live(everyone, since(1)), "workshop_instances_").await;
    planner.assert_uses(overview::ended(everyone, since(8_700)), "workshop_instances_ended").await;
    planner.assert_uses(instances::states(everyone, Uuid::from_u128(1)), "workshop_instances_").await;
    let filter = InstanceFilter { search: SearchText::new("bob"), ..InstanceFilter::default() };
    let count = instances::count(everyone, &filter, planner.store.search_rules());
    planner.assert_uses(count, "workshop_instances_").await;
    planner.store.close().await;
}

#[tokio::test]
async fn template_statements_use_their_index() {
    let planner = Planner::new().await;
    let template = Uuid::parse_str("00000000-0000-4000-8000-000000005000").unwrap();
    for after in [None, Some(template)] {
        let page = Page { limit: 50, after };
        planner.assert_uses(templates::list(None, false, &page), "workshop_templates_listed").await;
        planner.assert_uses(templates::list(None, true, &page), "workshop_templates_newest").await;
    }
    let id = "00000000-0000-4000-8000-000000005000";
    planner.assert_uses(with(templates::BY_ID, [id]), "workshop_templates_pkey").await;
    planner.assert_uses(with(templates::BY_SLUG, ["statistics"]), "workshop_templates_slug").await;
    let save = with(&templates::SAVE, [id, "1", "x", "{}", "1", "2", "1"]);
    planner.assert_uses(save, "workshop_templates_pkey").await;
    planner.store.close().await;
}

#[tokio::test]
async fn activity_log_statements_use_their_index() {
    let planner = Planner::new().await;
    for after in [None, Some(5000)] {
        let page = Page { limit: 50, after };
        let filter = |person, subject: Option<&str>| ActivityFilter { person, subject: subject.map(str::to_owned) };
        planner.assert_uses(activities::list(&filter(None, None), &page), "activities_pkey").await;
        planner.assert_uses(activities::list(&filter(None, Some("name-1")), &page), "activities_subject").await;
        let of_bob = || activities::list(&filter(Some(bob()), None), &page);
        planner.assert_uses(of_bob(), "activities_actor").await;
        planner.assert_uses(of_bob(), "activities_owner").await;
        planner.assert_uses(activities::list(&filter(Some(bob()), Some("name-1")), &page), "activities_").await;
    }
    planner.assert_uses(with(activities::OLD, ["5"]), "activities_at").await;
    planner.assert_uses(with(activities::PURGE, ["5"]), "activities_at").await;
    planner.store.close().await;
}
