//! Instances within the scope of a caller: one, lists and counts. An instance outside the scope is treated as missing.
//!
//! Every list has an index by launch time. Other sort keys have no index, because it would slow down every launch and
//! every change. Only lists of instances that have not ended have such keys. The database sorts the keys of all matching
//! rows, and then reads the other columns only for the rows of the page. This is fast enough for instances that have not
//! ended, which the limits keep to a few thousand.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::{Act, Activity, Caller, ClassAccess, ClassAction, Instance, InstanceState, Scope};
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::{
    InstanceCount, InstanceFilter, Page, SearchRules, push_filter, push_match, push_scope, push_search,
};
use crate::rows::{self, ListedInstance};
use crate::sql::{Sql, query};
use crate::store::{Store, WriteTransaction};
use crate::table::Record;

/// Changes a row if it still has the revision that was read (compare-and-swap). Erases the secret parameters once the
/// end is decided.
pub(crate) static CHANGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE workshop_instances SET revision = $3, {}, secrets = CASE WHEN $4 IN \
         ('queued', 'starting', 'running', 'suspending', 'suspended') THEN secrets END \
         WHERE instance_id = $1 AND revision = $2 RETURNING {}",
        Instance::TABLE.set(5),
        instances!(columns)
    )
});

/// Sets the time of the last use of a running instance. A row with a later time stays.
pub(crate) const USED: &str = "UPDATE workshop_instances SET used_at = $1 \
     WHERE instance_id = $2 AND state = 'running' AND COALESCE(used_at, 0) < $1";

impl Store {
    /// Notes that the owner used the app of a running instance at this time. The row gets no new revision.
    pub async fn note_use(&self, instance_id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        let noted = query(USED).bind(at.as_millisecond()).bind(instance_id.to_string());
        self.execute(noted).await.map(drop)
    }

    /// Returns the instance with this name if it is within the scope.
    pub async fn instance<'a>(
        &self,
        scope: impl Into<Scope<'a>>,
        k8s_name: &str,
    ) -> Result<Option<ListedInstance>, StoreError> {
        by_name(scope.into(), k8s_name).statement()?.read_optional(&self.pool).await
    }

    /// Returns a page of the instances within the scope, newest first.
    pub async fn instances<'a>(
        &self,
        scope: impl Into<Scope<'a>>,
        filter: &InstanceFilter,
        page: &Page,
    ) -> Result<Vec<ListedInstance>, StoreError> {
        list(scope.into(), filter, page, self.search_rules()).statement()?.read_all(&self.pool).await
    }

    /// Replaces `before` by `after`, and writes an activity log entry for a change that is logged. Returns the stored
    /// row with its new revision. If the row has changed since `before` was read, it writes nothing and returns `None`:
    /// the caller must read the row again.
    pub async fn change_instance(
        &self,
        before: &Instance,
        after: &Instance,
        act: &Act,
    ) -> Result<Option<Instance>, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        let changed = write.change(before, after, revision, act).await?;
        if changed.is_some() {
            write.commit().await?;
        }
        Ok(changed)
    }

    /// Replaces each first instance by its second in one transaction, like [`Store::change_instance`]. The result has `None`
    /// for each row that has changed since it was read.
    ///
    /// # Errors
    /// With `by`, [`StoreError::ClassRole`] when the caller may no longer perform this action in the class; otherwise
    /// [`StoreError`]. Nothing was written.
    pub async fn change_instances(
        &self,
        changes: &[(Instance, Instance)],
        by: Option<(&ClassAccess, ClassAction)>,
        act: &Act,
    ) -> Result<Vec<Option<Instance>>, StoreError> {
        let mut write = self.write().await?;
        let last = write.take_revisions(i64::try_from(changes.len()).unwrap_or(0)).await?;
        if let Some((access, action)) = by {
            write.require(access, action).await?;
        }
        let mut changed = Vec::with_capacity(changes.len());
        for ((before, after), back) in changes.iter().zip((0..changes.len()).rev()) {
            let revision = last - i64::try_from(back).unwrap_or(0);
            changed.push(write.change(before, after, revision, act).await?);
        }
        write.commit().await?;
        Ok(changed)
    }
}

impl WriteTransaction {
    /// Changes a row, and writes an activity log entry for a change that is logged. Returns the stored row; `None` if it has
    /// changed since `before` was read.
    async fn change(
        &mut self,
        before: &Instance,
        after: &Instance,
        revision: i64,
        act: &Act,
    ) -> Result<Option<Instance>, StoreError> {
        let change = query(&CHANGE)
            .bind(before.instance_id.to_string())
            .bind(before.revision)
            .bind(revision)
            .bind(after.state.as_str());
        let stored = after.bind_changed(change)?.read_optional(self.connection()).await?;
        let Some(changed) = stored else { return Ok(None) };
        if let Some(activity) = Activity::of_change(before, &changed, act) {
            self.log_activity(revision, &activity).await?;
        }
        Ok(Some(changed))
    }
}

pub(crate) fn by_name(scope: Scope<'_>, k8s_name: &str) -> Sql {
    let mut sql = Sql::new(listed_instances!());
    sql.condition_with("k8s_name = ", k8s_name.to_owned());
    push_scope(&mut sql, scope);
    sql
}

/// Builds the query of a list, newest first.
pub(crate) fn list(scope: Scope<'_>, filter: &InstanceFilter, page: &Page, rules: SearchRules) -> Sql {
    let after = page.after.map(|instance_id| Cursor { key: None, instance_id });
    sorted(scope, filter, SortOrder::NEWEST, after.as_ref(), page.limit, rules)
}

/// Sort key of a list. Rows with equal keys are ordered newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortBy {
    Launch,
    Owner,
    /// Template name at the launch, with ASCII letters in lower case.
    Template,
    /// State, in lifecycle order.
    State,
    /// Expiry of a running instance, otherwise the time of its end. Rows without this time come last in both
    /// directions.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortOrder {
    pub by: SortBy,
    /// True for greatest first.
    pub descending: bool,
}

/// Cursor: the position of a row in a sort order when the row was read. The next page begins after it. A row whose sort
/// key changes in between may appear twice or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    key: Option<Key>,
    instance_id: Uuid,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Number(i64),
    Text(String),
}

impl SortOrder {
    /// Launch time, newest first.
    pub const NEWEST: Self = Self { by: SortBy::Launch, descending: true };

    /// Returns the cursor of an instance in this order.
    #[must_use]
    pub fn cursor(self, instance: &Instance) -> Cursor {
        let key = match self.by {
            SortBy::Launch => None,
            SortBy::Owner => Some(Key::Text(instance.owner_email.as_str().to_owned())),
            SortBy::Template => Some(Key::Text(instance.settings.name.to_ascii_lowercase())),
            SortBy::State => {
                let rank = InstanceState::ALL.iter().position(|state| *state == instance.state);
                Some(Key::Number(rank.and_then(|rank| i64::try_from(rank).ok()).unwrap_or(0)))
            }
            SortBy::End => {
                let running = instance.state == InstanceState::Running;
                let end = rows::millis(if running { instance.expires_at } else { instance.ended_at });
                Some(Key::Number(end.unwrap_or(if self.descending { 0 } else { i64::MAX })))
            }
        };
        Cursor { key, instance_id: instance.instance_id }
    }
}

/// Formats as `<identifier>`, `<identifier> n<number>` or `<identifier> t<text>`.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            None => write!(f, "{}", self.instance_id),
            Some(Key::Number(number)) => write!(f, "{} n{number}", self.instance_id),
            Some(Key::Text(text)) => write!(f, "{} t{text}", self.instance_id),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid list cursor")]
pub struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (id, key) = text.split_once(' ').map_or((text, None), |(id, key)| (id, Some(key)));
        let key = match key.map(|key| key.split_at_checked(1)) {
            None => None,
            Some(Some(("n", number))) => Some(Key::Number(number.parse().map_err(|_| InvalidCursor)?)),
            // A cursor with NUL is invalid: no row contains NUL, and PostgreSQL rejects it.
            Some(Some(("t", text))) if !text.contains('\0') => Some(Key::Text(text.to_owned())),
            Some(_) => return Err(InvalidCursor),
        };
        Ok(Self { key, instance_id: Uuid::try_parse(id).map_err(|_| InvalidCursor)? })
    }
}

impl Store {
    /// Returns at most `limit` instances that the caller may see, in this order, after the cursor. If the cursor has
    /// another sort key, the list starts at the beginning.
    pub async fn sorted_instances(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
        order: SortOrder,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Vec<ListedInstance>, StoreError> {
        let rules = self.search_rules();
        sorted(caller.scope(), filter, order, after, limit, rules).statement()?.read_all(&self.pool).await
    }
}

/// Builds the query of a sorted list. A subquery sorts only keys: without it, the database would sort whole rows with
/// their queue positions.
pub(crate) fn sorted(
    scope: Scope<'_>,
    filter: &InstanceFilter,
    order: SortOrder,
    after: Option<&Cursor>,
    limit: u32,
    rules: SearchRules,
) -> Sql {
    let key = key(order, rules.template_name);
    let mut sql = Sql::new(listed_instances!());
    if key.is_some() {
        sql.push(" WHERE instance_id IN (SELECT instance_id FROM workshop_instances");
    }
    push_filter(&mut sql, scope, filter);
    push_search(&mut sql, scope, filter, rules);
    if let Some(after) = after {
        push_cursor(&mut sql, order, key, after);
    }
    push_order_by(&mut sql, order, key);
    sql.push_with(" LIMIT ", i64::from(limit));
    if key.is_some() {
        sql.push(")");
        push_order_by(&mut sql, order, key);
    }
    sql
}

/// Returns the sort key as an SQL expression; `None` for launch time, which is the order of the identifiers.
fn key(order: SortOrder, template_name: &'static str) -> Option<&'static str> {
    match (order.by, order.descending) {
        (SortBy::Launch, _) => None,
        // Use an expression instead of the column, so that SQLite does not scan the owner index, which includes all
        // ended rows.
        (SortBy::Owner, _) => Some("owner_email || ''"),
        (SortBy::Template, _) => Some(template_name),
        (SortBy::State, _) => Some(
            "CASE state WHEN 'queued' THEN 0 WHEN 'starting' THEN 1 WHEN 'running' THEN 2 WHEN 'suspending' THEN 3 \
             WHEN 'suspended' THEN 4 WHEN 'terminating' THEN 5 WHEN 'terminated' THEN 6 ELSE 7 END",
        ),
        (SortBy::End, true) => Some("COALESCE(CASE state WHEN 'running' THEN expires_at ELSE ended_at END, 0)"),
        (SortBy::End, false) => {
            Some("COALESCE(CASE state WHEN 'running' THEN expires_at ELSE ended_at END, 9223372036854775807)")
        }
    }
}

fn push_cursor(sql: &mut Sql, order: SortOrder, key: Option<&'static str>, after: &Cursor) {
    let id = after.instance_id.to_string();
    let operator = if order.descending { " < " } else { " > " };
    let is_text = matches!(order.by, SortBy::Owner | SortBy::Template);
    match (key, &after.key) {
        (None, None) => sql.condition_with(if order.descending { "instance_id < " } else { "instance_id > " }, id),
        (Some(key), Some(Key::Text(text))) if is_text => push_key_cursor(sql, key, operator, text.clone(), id),
        (Some(key), Some(Key::Number(number))) if !is_text => push_key_cursor(sql, key, operator, *number, id),
        _ => {}
    }
}

fn push_key_cursor<V>(sql: &mut Sql, key: &'static str, operator: &'static str, value: V, id: String)
where
    V: Clone + for<'v> sqlx::Encode<'v, sqlx::Any> + sqlx::Type<sqlx::Any>,
{
    sql.condition("(");
    sql.push(key);
    sql.push_with(operator, value.clone());
    sql.push(" OR (");
    sql.push(key);
    sql.push_with(" = ", value);
    sql.push_with(" AND instance_id < ", id);
    sql.push("))");
}

fn push_order_by(sql: &mut Sql, order: SortOrder, key: Option<&'static str>) {
    sql.push(" ORDER BY ");
    let Some(key) = key else {
        sql.push(if order.descending { "instance_id DESC" } else { "instance_id" });
        return;
    };
    sql.push(key);
    sql.push(if order.descending { " DESC, instance_id DESC" } else { ", instance_id DESC" });
}

impl Store {
    /// Counts the instances that the caller may see and that match the filter. Examines only the newest 20,000 that
    /// match the filter without its search.
    pub async fn count_instances(&self, caller: &Caller, filter: &InstanceFilter) -> Result<InstanceCount, StoreError> {
        let rules = self.search_rules();
        let row = count(caller.scope(), filter, rules).statement()?.fetch_optional(&self.pool).await?;
        let max_examined = u64::try_from(rules.max_examined).unwrap_or(0);
        let Some(row) = row else { return Ok(InstanceCount { matches: 0, is_complete: true, max_examined }) };
        let (matches, examined): (i64, i64) = (row.try_get("matches")?, row.try_get("examined")?);
        let is_complete = examined <= rules.max_examined;
        Ok(InstanceCount { matches: u64::try_from(matches).unwrap_or(0), is_complete, max_examined })
    }

    /// Counts the instances of a template that have not ended and that the caller may see, by state. Omits states
    /// without instances.
    pub async fn count_template_states(
        &self,
        caller: &Caller,
        template_id: Uuid,
    ) -> Result<Vec<(InstanceState, u64)>, StoreError> {
        let rows = states(caller.scope(), template_id).statement()?.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            let state = InstanceState::parse(row.try_get("state")?).ok_or_else(|| rows::unreadable("state"))?;
            Ok((state, rows::count(row, "instances")?))
        };
        rows.iter().map(read).collect()
    }
}

/// Builds the query of [`Store::count_template_states`]. It lists each state: if it only excluded `terminated`, SQLite would scan
/// all rows.
pub(crate) fn states(scope: Scope<'_>, template_id: Uuid) -> Sql {
    let mut sql = Sql::new("SELECT state, count(*) AS instances FROM workshop_instances");
    sql.condition_with("template_id = ", template_id.to_string());
    sql.condition("state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'failed')");
    push_scope(&mut sql, scope);
    sql.push(" GROUP BY state");
    sql
}

/// Builds the query of [`Store::count_instances`]. It reads one instance more than the maximum, to learn if there are
/// more. A search does not examine this instance.
pub(crate) fn count(scope: Scope<'_>, filter: &InstanceFilter, rules: SearchRules) -> Sql {
    let mut sql =
        Sql::new("SELECT count(CASE WHEN found = 1 THEN 1 END) AS matches, count(*) AS examined FROM (SELECT ");
    match &filter.search {
        None => sql.push("1"),
        Some(search) => {
            sql.push("CASE WHEN ");
            push_match(&mut sql, scope, filter, search, rules);
            sql.push(" THEN 1 ELSE 0 END");
        }
    }
    sql.push(" AS found FROM workshop_instances");
    push_filter(&mut sql, scope, filter);
    sql.push_with(" ORDER BY instance_id DESC LIMIT ", rules.max_examined + 1);
    sql.push(") AS newest");
    sql
}
