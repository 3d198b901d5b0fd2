//! Row types with their tables, and conversions of values.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{
    Act, Activity, Class, ClassMessage, EmailAddress, Hand, Instance, JoinLink, Membership, Snapshot, Template, Volume,
};
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::classes::Attendance;
use crate::error::StoreError;
use crate::sql::Statement;
use crate::table::{Column, FromRow, Number, Reader, Stored, Text, Written};

/// Settings of an instance, which are stored once in `template_settings`.
macro_rules! instance_settings {
    () => {
        "(SELECT launched.settings FROM template_settings AS launched \
         WHERE launched.settings_hash = workshop_instances.settings_hash)"
    };
}

table! {
    "workshop_instances" as Instance, instances {
        instance_id: Text,
        k8s_name: Text Once,
        owner_email: Text Once,
        template_id: Text Once,
        class_id: Text Once,
        namespace: Text Once,
        settings: Text Never = instance_settings,
        raised_max_lifetime_seconds: Number Changed,
        volume: Text Once,
        restores: Text Once,
        parameters: Text Once,
        state: Text Always,
        reason: Text Changed,
        report: Text Changed,
        snapshot: Text Always,
        outdated: Number Changed,
        restarted_at: Number Changed,
        created_at: Number Once,
        suspended_at: Number Changed,
        resumed_at: Number Later,
        dispatched_at: Number Changed,
        started_at: Number Changed,
        expires_at: Number Changed,
        ended_at: Number Changed,
        end_reason: Text Changed,
        spec_version: Number Always,
        applied_version: Number Once,
        workshop_uid: Text Later,
        former_uid: Text Later,
        revision: Number Once,
    }
    settings_hash: Text Apart,
    secrets: Text Apart,
    queue_number: Number Apart,
    used_at: Number Later,
}

table! {
    "classes" as Class, classes {
        class_id: Text,
        content: Text Always,
        version: Number Always,
        created_by: Text Once,
        created_at: Number Once,
        updated_at: Number Always,
    }
    changed: Number Later,
}

table! {
    "class_hands" as Hand, hands {
        class_id: Text,
        email: Text Once,
        raised_at: Number Once,
        taken_by: Text Changed,
        taken_at: Number Changed,
    }
}

table! {
    "class_messages" as ClassMessage, messages {
        class_id: Text,
        text: Text Always,
        sent_by: Text Always,
        sent_at: Number Always,
    }
}

table! {
    "class_members" as Membership, members {
        membership_id: Text,
        class_id: Text Once,
        email: Text Once,
        source: Text Once,
        role: Text Always,
        name: Text Always,
        joined_at: Number Always,
        removed_at: Number Always,
    }
}

table! {
    "class_links" as JoinLink, links {
        link_id: Text,
        code: Text Once,
        class_id: Text Once,
        rules: Text Once,
        created_by: Text Once,
        created_at: Number Once,
        expires_at: Number Once,
        joined: Number Always,
        revoked_at: Number Always,
    }
}

table! {
    "workshop_templates" as Template, templates {
        template_id: Text,
        class_id: Text Once,
        settings: Text Always,
        listing: Text Always,
        active: Number Always,
        version: Number Always,
        created_by: Text Once,
        created_at: Number Once,
        updated_at: Number Always,
    }
}

table! {
    "volumes" as Volume, volumes {
        volume_id: Text,
        name: Text Once,
        owner_email: Text Once,
        template_id: Text Once,
        template_name: Text Once,
        namespace: Text Once,
        size: Text Once,
        created_at: Number Once,
        last_used_at: Number Once,
        kept_until: Number Once,
    }
    deleted_at: Number Later,
}

table! {
    "snapshots" as Snapshot, snapshots {
        snapshot_id: Text,
        owner_email: Text Once,
        template_id: Text Once,
        template_name: Text Once,
        k8s_name: Text Once,
        bytes: Number Always,
        created_at: Number Always,
        kept_until: Number Always,
    }
    deleted_at: Number Later,
}

table! {
    (LoggedActivity {
        activity_id,
        activity: Activity { act: Act { actor_email, at }, action, subject, subject_name, owner_email, detail },
    })
    "activities" as LoggedActivity, activities {
        activity_id: Number,
        at: Number Once,
        actor_email: Text Once,
        action: Text Once,
        subject: Text Once,
        subject_name: Text Once,
        owner_email: Text Once,
        detail: Text Once,
    }
}

/// SELECT of [`ListedInstance`]: the instance, its queue position in the same snapshot, and its last use.
macro_rules! listed_instances {
    () => {
        concat!(
            "SELECT ",
            instances!(columns),
            ", CASE WHEN state = 'queued' THEN (SELECT count(*) FROM workshop_instances AS ahead \
             WHERE ahead.state = 'queued' AND ahead.queue_number <= workshop_instances.queue_number) END \
             AS queue_position, used_at FROM workshop_instances"
        )
    };
}

/// An instance with its queue position and its last use, for lists and pages.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedInstance {
    pub instance: Instance,
    /// Queue position, 1 for the next to start; `None` unless queued.
    pub queue_position: Option<u32>,
    /// Time at which the owner last used the app; `None` if no bar above the app reported it.
    pub used_at: Option<Timestamp>,
}

impl From<Instance> for ListedInstance {
    /// An instance outside the queue.
    fn from(instance: Instance) -> Self {
        Self { instance, queue_position: None, used_at: None }
    }
}

/// An activity log entry with its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedActivity {
    /// Revision of the change. Later entries have greater revisions.
    pub activity_id: i64,
    pub activity: Activity,
}

impl FromRow for ListedInstance {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let (position, used_at): (Option<i64>, Option<i64>) = (row.try_get("queue_position")?, row.try_get("used_at")?);
        Ok(Self {
            queue_position: position.and_then(|position| u32::try_from(position).ok()),
            used_at: used_at.and_then(|millis| Timestamp::from_millisecond(millis).ok()),
            instance: Instance::read(row)?,
        })
    }
}

impl FromRow for Attendance {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let email = EmailAddress::parse(row.try_get("owner_email")?).map_err(|_| unreadable("owner_email"))?;
        let time = |millis: i64, column| Timestamp::from_millisecond(millis).map_err(|_| unreadable(column));
        let (last_end, last_use): (Option<i64>, Option<i64>) = (row.try_get("last_end")?, row.try_get("last_use")?);
        Ok(Self {
            email,
            workshops: count(row, "workshops")?,
            first_launch: time(row.try_get("first_launch")?, "created_at")?,
            last_end: last_end.map(|millis| time(millis, "ended_at")).transpose()?,
            last_use: last_use.map(|millis| time(millis, "used_at")).transpose()?,
            is_active: count(row, "active")? > 0,
        })
    }
}

/// Returns the error for an unreadable column. The row counts many instances, so the error contains no identifier.
pub(crate) fn unreadable(column: &'static str) -> StoreError {
    StoreError::Corrupt { table: "workshop_instances", row: Uuid::nil(), column }
}

/// Reads a column with a number of rows.
pub(crate) fn count(row: &AnyRow, column: &'static str) -> Result<u64, StoreError> {
    let count: i64 = row.try_get(column)?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Logs an unreadable row and returns `None`.
pub(crate) fn reported<T>(row: Result<T, StoreError>) -> Option<T> {
    row.inspect_err(|error| tracing::error!(%error, "skipping unreadable row of the database")).ok()
}

/// Converts a time to its stored form: milliseconds since the epoch.
pub(crate) fn millis(time: Option<Timestamp>) -> Option<i64> {
    time.map(|time| time.as_millisecond())
}

/// Converts a retention to its stored form: milliseconds, at most 100 years.
pub(crate) fn retention_millis(retention: SignedDuration) -> i64 {
    let longest = SignedDuration::from_hours(100 * 365 * 24);
    i64::try_from(retention.min(longest).as_millis()).unwrap_or_default()
}

/// Replaces NUL characters: PostgreSQL cannot store them, and a program's log may contain them.
pub(crate) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Converts a value to its stored form, JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Other(error.into()))
}
