//! Activity log. An entry and its change are written in one transaction, so that neither exists without the other.

use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::{Activity, EmailAddress};

use crate::error::StoreError;
use crate::filter::{ActivityFilter, Page};
use crate::rows::LoggedActivity;
use crate::sql::{Sql, query};
use crate::store::{Store, WriteTransaction};
use crate::table::Record;

static INSERT: LazyLock<String> = LazyLock::new(|| LoggedActivity::TABLE.insert());
pub(crate) const OLD: &str = "SELECT 1 FROM activities WHERE at < $1 ORDER BY at LIMIT 1";
/// Deletes one batch of old entries. Batches are small, so that a launch does not wait long for the write lock.
pub(crate) const PURGE: &str = "DELETE FROM activities WHERE activity_id IN \
     (SELECT activity_id FROM activities WHERE at < $1 ORDER BY at LIMIT 500)";

/// Maximum downloads that [`Store::downloads_by_others`] returns.
const MAX_DOWNLOADS: i64 = 50;
/// The condition on the owner is that of the index `activities_owner`.
pub(crate) const DOWNLOADS: &str =
    activities!(" WHERE owner_email = $1 AND action = 'files-downloaded' ORDER BY activity_id DESC LIMIT $2");

impl Store {
    /// Returns a page of the activity log, newest first. Contains all owners' entries: the caller of the store
    /// authorizes the read.
    pub async fn activities(
        &self,
        filter: &ActivityFilter,
        page: &Page<i64>,
    ) -> Result<Vec<LoggedActivity>, StoreError> {
        list(filter, page).statement()?.read_all(&self.pool).await
    }

    /// Returns the last downloads of this person's files by other persons, newest first.
    pub async fn downloads_by_others(&self, owner: &EmailAddress) -> Result<Vec<LoggedActivity>, StoreError> {
        query(DOWNLOADS).bind(owner.to_string()).bind(MAX_DOWNLOADS).read_all(&self.pool).await
    }

    /// Writes an entry about an action that changes no row.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn log(&self, activity: &Activity) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.log_activity(revision, activity).await?;
        write.commit().await
    }

    /// Removes the entries written before this time. Returns the number of removed entries.
    ///
    /// # Errors
    /// [`StoreError`]. The batches before the error stay removed.
    pub async fn purge_activities(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.purge_batches(OLD, PURGE, before).await
    }
}

impl WriteTransaction {
    /// Writes an entry. Its identifier is the revision of the change.
    pub(crate) async fn log_activity(&mut self, revision: i64, activity: &Activity) -> Result<(), StoreError> {
        let entry = LoggedActivity { activity_id: revision, activity: activity.clone() };
        entry.bind_all(query(&INSERT))?.execute(self.connection()).await?;
        Ok(())
    }
}

/// Merges two index scans: the person's actions, and events of the person's instances. One condition with OR would read
/// and sort all rows of both.
pub(crate) fn list(filter: &ActivityFilter, page: &Page<i64>) -> Sql {
    let mut sql = Sql::new(activities!());
    match &filter.person {
        None => push_filter(&mut sql, filter, page),
        Some(person) => {
            let person = person.as_str();
            sql.condition_with("actor_email = ", person.to_owned());
            push_filter(&mut sql, filter, page);
            sql.again(concat!(" UNION ALL SELECT ", activities!(columns), " FROM activities"));
            sql.condition_with("owner_email = ", person.to_owned());
            sql.condition_with("(actor_email IS NULL OR actor_email <> ", person.to_owned());
            sql.push(")");
            push_filter(&mut sql, filter, page);
        }
    }
    sql.push_with(" ORDER BY activity_id DESC LIMIT ", i64::from(page.limit));
    sql
}

fn push_filter(sql: &mut Sql, filter: &ActivityFilter, page: &Page<i64>) {
    if let Some(subject) = &filter.subject {
        sql.condition_with("subject = ", subject.clone());
    }
    if let Some(after) = page.after {
        sql.condition_with("activity_id < ", after);
    }
}
