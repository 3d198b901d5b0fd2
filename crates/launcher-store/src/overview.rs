//! Statistics over many instances. The database counts them, so that a page over 100,000 launches does not read each
//! row.

use jiff::Timestamp;
use launcher_domain::names::earliest_uuid;
use launcher_domain::{Caller, InstanceState, Scope};
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::push_scope;
use crate::rows::{count, unreadable};
use crate::sql::Sql;
use crate::store::Store;

/// Launches of one template in one hour with the same time to ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchCount {
    pub template_id: Uuid,
    /// Whole hours from `since` to the launch.
    pub hour: i64,
    /// Milliseconds from the launch, or the last resume, to ready; `None` if the instance was not ready. Rounded down to 0.1 s below 10 s,
    /// and to 1 s from 10 s on, so that the query returns fewer rows.
    pub ready_millis: Option<i64>,
    pub launches: u64,
    /// Number of failed launches, dismissed or not.
    pub failures: u64,
}

/// Instances of one template that have not ended, in one state, ready since the same hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveCount {
    pub template_id: Uuid,
    pub state: InstanceState,
    /// Hours from `since` to ready, truncated toward zero; negative if ready an hour or more before `since`. `None` if
    /// not ready yet.
    pub ready_hour: Option<i64>,
    pub instances: u64,
}

/// Instances that became ready in the same hour and ended in the same hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedCount {
    /// Hours from `since` to ready, truncated toward zero; negative if ready an hour or more before `since`.
    pub ready_hour: i64,
    /// Whole hours from `since` to the end.
    pub ended_hour: i64,
    pub instances: u64,
}

impl Store {
    /// Counts the launches since this time that the caller may see.
    pub async fn count_launches(&self, caller: &Caller, since: Timestamp) -> Result<Vec<LaunchCount>, StoreError> {
        let rows = launches(caller.scope(), since).statement()?.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(LaunchCount {
                template_id: template_id(row)?,
                hour: row.try_get("hour")?,
                ready_millis: row.try_get("ready_millis")?,
                launches: count(row, "launches")?,
                failures: count(row, "failures")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Returns the milliseconds from the end of the wait in the queue to ready of the template's newest launches, `limit` launches at most. A
    /// launch that was never ready is not in the result.
    pub async fn newest_start_times(&self, template_id: Uuid, limit: u32) -> Result<Vec<i64>, StoreError> {
        let rows = start_times(template_id, limit).statement()?.fetch_all(&self.pool).await?;
        let times: Result<Vec<Option<i64>>, _> = rows.iter().map(|row| row.try_get("ready_millis")).collect();
        Ok(times?.into_iter().flatten().collect())
    }

    /// Counts the instances that have not ended and that the caller may see. Hours are relative to `since`.
    pub async fn count_live(&self, caller: &Caller, since: Timestamp) -> Result<Vec<LiveCount>, StoreError> {
        let rows = live(caller.scope(), since).statement()?.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(LiveCount {
                template_id: template_id(row)?,
                state: InstanceState::parse(row.try_get("state")?).ok_or_else(|| unreadable("state"))?,
                ready_hour: row.try_get("ready_hour")?,
                instances: count(row, "instances")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Counts the instances that the caller may see, that were ready once, and that ended since this time. Excludes
    /// failed instances: the time of the failure is not stored, only that of the dismissal.
    pub async fn count_ended(&self, caller: &Caller, since: Timestamp) -> Result<Vec<EndedCount>, StoreError> {
        let rows = ended(caller.scope(), since).statement()?.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(EndedCount {
                ready_hour: row.try_get("ready_hour")?,
                ended_hour: row.try_get("ended_hour")?,
                instances: count(row, "instances")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

fn template_id(row: &AnyRow) -> Result<Uuid, StoreError> {
    let text: &str = row.try_get("template_id")?;
    Uuid::parse_str(text).map_err(|_| unreadable("template_id"))
}

/// Appends a column with the hours from `since` to a time, truncated toward zero. `from` is the SQL of this time,
/// followed by the minus sign.
fn push_hours(sql: &mut Sql, from: &'static str, since: Timestamp, name: &'static str) {
    sql.push_with(from, since.as_millisecond());
    sql.push(") / 3600000 AS ");
    sql.push(name);
}

/// Builds the query of [`Store::count_launches`]. Identifiers sort by launch time, so the query reads only the end of
/// the primary key's index.
pub(crate) fn launches(scope: Scope<'_>, since: Timestamp) -> Sql {
    let mut sql = Sql::new("SELECT template_id, ");
    push_hours(&mut sql, "(created_at - ", since, "hour");
    sql.push(
        ", CASE WHEN started_at - COALESCE(resumed_at, created_at) < 10000 \
         THEN (started_at - COALESCE(resumed_at, created_at)) / 100 * 100 \
         ELSE (started_at - COALESCE(resumed_at, created_at)) / 1000 * 1000 END AS ready_millis, count(*) AS launches, \
         count(CASE WHEN end_reason = 'failed' THEN 1 END) AS failures FROM workshop_instances",
    );
    sql.condition_with("instance_id >= ", earliest_uuid(since).to_string());
    push_scope(&mut sql, scope);
    sql.push(" GROUP BY 1, 2, 3");
    sql
}

/// Builds the query of [`Store::newest_start_times`]. It does not exclude launches that were never ready: if most of
/// them failed, the query would read all launches of the template.
pub(crate) fn start_times(template_id: Uuid, limit: u32) -> Sql {
    let mut sql = Sql::new(
        "SELECT started_at - COALESCE(dispatched_at, resumed_at, created_at) AS ready_millis FROM workshop_instances",
    );
    sql.condition_with("template_id = ", template_id.to_string());
    sql.push_with(" ORDER BY instance_id DESC LIMIT ", i64::from(limit));
    sql
}

/// Builds the query of [`Store::count_live`]. It lists each state: if it only excluded `terminated`, SQLite would scan
/// all rows.
pub(crate) fn live(scope: Scope<'_>, since: Timestamp) -> Sql {
    let mut sql = Sql::new("SELECT template_id, state, ");
    push_hours(&mut sql, "(started_at - ", since, "ready_hour");
    sql.push(", count(*) AS instances FROM workshop_instances");
    sql.condition("state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'failed')");
    push_scope(&mut sql, scope);
    sql.push(" GROUP BY 1, 2, 3");
    sql
}

pub(crate) fn ended(scope: Scope<'_>, since: Timestamp) -> Sql {
    let mut sql = Sql::new("SELECT ");
    push_hours(&mut sql, "(started_at - ", since, "ready_hour");
    sql.push(", ");
    push_hours(&mut sql, "(COALESCE(suspended_at, ended_at) - ", since, "ended_hour");
    sql.push(", count(*) AS instances FROM workshop_instances");
    sql.condition("state = 'terminated'");
    sql.condition_with("ended_at >= ", since.as_millisecond());
    sql.condition("started_at IS NOT NULL");
    sql.condition("end_reason <> 'failed'");
    push_scope(&mut sql, scope);
    sql.push(" GROUP BY 1, 2");
    sql
}
