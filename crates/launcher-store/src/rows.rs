//! Conversion between rows and domain types. An unreadable value is [`StoreError::Corrupt`], never a default.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{
    Act, Activity, ActivityAction, EmailAddress, EndReason, Icon, Instance, InstanceState, Listing, Snapshot,
    StartStep, Template, Volume,
};
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reader::Reader;

/// Settings of an instance, which are stored once in `template_settings`.
macro_rules! instance_settings {
    () => {
        "(SELECT launched.settings FROM template_settings AS launched \
         WHERE launched.settings_hash = workshop_instances.settings_hash)"
    };
}

/// Columns that [`instance`] reads.
macro_rules! instance_columns {
    () => {
        concat!(
            "instance_id, k8s_name, owner_email, template_id, ",
            $crate::rows::instance_settings!(),
            " AS settings, volume, parameters, state, start_step, start_progress, reason, log_tail, last_crash, material, snapshot, url, frame_url, outdated, restarted_at, \
             created_at, suspended_at, resumed_at, dispatched_at, started_at, expires_at, ended_at, end_reason, spec_version, applied_version, workshop_uid, former_uid, revision"
        )
    };
}

/// Columns that [`listed`] reads: the instance, and its queue position in the same snapshot.
macro_rules! listed_columns {
    () => {
        concat!(
            $crate::rows::instance_columns!(),
            ", CASE WHEN state = 'queued' THEN (SELECT count(*) FROM workshop_instances AS ahead \
             WHERE ahead.state = 'queued' AND ahead.launch_number <= workshop_instances.launch_number) END \
             AS queue_position"
        )
    };
}

/// Columns that [`template`] reads.
macro_rules! template_columns {
    () => {
        "template_id, settings, active, version, created_by, created_at, updated_at, tags, icon, unlisted, slug"
    };
}

/// Columns that [`volume`] reads.
macro_rules! volume_columns {
    () => {
        "volume_id, name, owner_email, template_id, template_name, size, created_at, last_used_at, kept_until"
    };
}

/// Columns that [`snapshot`] reads.
macro_rules! snapshot_columns {
    () => {
        "snapshot_id, owner_email, template_id, template_name, k8s_name, bytes, created_at, kept_until"
    };
}

/// Columns that [`activity`] reads.
macro_rules! activity_columns {
    () => {
        "activity_id, at, actor_email, action, subject, subject_name, owner_email, detail"
    };
}

pub(crate) use {
    activity_columns, instance_columns, instance_settings, listed_columns, snapshot_columns, template_columns,
    volume_columns,
};

/// An instance with its queue position, for lists and pages.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedInstance {
    /// The instance.
    pub instance: Instance,
    /// Queue position, 1 for the next to start; `None` unless queued.
    pub queue_position: Option<u32>,
}

/// An activity log entry with its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedActivity {
    /// Revision of the change. Later entries have greater revisions.
    pub activity_id: i64,
    /// The entry.
    pub activity: Activity,
}

pub(crate) fn instance(row: &AnyRow) -> Result<Instance, StoreError> {
    let row = Reader::new(row, "workshop_instances", "instance_id")?;
    Ok(Instance {
        instance_id: row.id,
        k8s_name: row.value("k8s_name")?,
        owner_email: row.parsed("owner_email", |text| EmailAddress::parse(text).ok())?,
        template_id: row.parsed("template_id", |text| Uuid::parse_str(text).ok())?,
        settings: row.json("settings")?.ok_or_else(|| row.corrupt("settings"))?,
        volume: row.value("volume")?,
        parameters: row.json("parameters")?.unwrap_or_default(),
        state: row.parsed("state", InstanceState::parse)?,
        start_step: row
            .value::<Option<String>>("start_step")?
            .map(|text| StartStep::parse(&text).ok_or_else(|| row.corrupt("start_step")))
            .transpose()?,
        start_progress: row
            .value::<Option<i64>>("start_progress")?
            .map(|number| u32::try_from(number).map_err(|_| row.corrupt("start_progress")))
            .transpose()?,
        reason: row.json("reason")?,
        log_tail: row.value("log_tail")?,
        last_crash: row.json("last_crash")?,
        material: row.json("material")?,
        snapshot: row.json("snapshot")?,
        url: row.value("url")?,
        frame_url: row.value("frame_url")?,
        outdated: row.value::<i64>("outdated")? == 1,
        restarted_at: row.time("restarted_at")?,
        created_at: row.time("created_at")?.ok_or_else(|| row.corrupt("created_at"))?,
        suspended_at: row.time("suspended_at")?,
        resumed_at: row.time("resumed_at")?,
        dispatched_at: row.time("dispatched_at")?,
        started_at: row.time("started_at")?,
        expires_at: row.time("expires_at")?,
        ended_at: row.time("ended_at")?,
        end_reason: row
            .value::<Option<String>>("end_reason")?
            .map(|text| EndReason::parse(&text).ok_or_else(|| row.corrupt("end_reason")))
            .transpose()?,
        spec_version: row.value("spec_version")?,
        applied_version: row.value("applied_version")?,
        workshop_uid: row.value("workshop_uid")?,
        former_uid: row.value("former_uid")?,
        revision: row.value("revision")?,
    })
}

/// Reads a row whose only column is `instance_id`.
pub(crate) fn instance_id(row: &AnyRow) -> Result<Uuid, StoreError> {
    Ok(Reader::new(row, "workshop_instances", "instance_id")?.id)
}

pub(crate) fn listed(row: &AnyRow) -> Result<ListedInstance, StoreError> {
    let instance = instance(row)?;
    let position: Option<i64> = row.try_get("queue_position")?;
    Ok(ListedInstance { instance, queue_position: position.and_then(|position| u32::try_from(position).ok()) })
}

pub(crate) fn template(row: &AnyRow) -> Result<Template, StoreError> {
    let row = Reader::new(row, "workshop_templates", "template_id")?;
    Ok(Template {
        template_id: row.id,
        settings: row.json("settings")?.ok_or_else(|| row.corrupt("settings"))?,
        active: row.value::<i64>("active")? == 1,
        version: row.value("version")?,
        created_by: row.parsed("created_by", |text| EmailAddress::parse(text).ok())?,
        created_at: row.time("created_at")?.ok_or_else(|| row.corrupt("created_at"))?,
        updated_at: row.time("updated_at")?.ok_or_else(|| row.corrupt("updated_at"))?,
        listing: listing(&row)?,
    })
}

/// Reads the columns of [`volume_columns`].
pub(crate) fn volume(row: &AnyRow) -> Result<Volume, StoreError> {
    let row = Reader::new(row, "volumes", "volume_id")?;
    let template_id = row.value::<String>("template_id")?;
    let template_id = Some(template_id).filter(|id| !id.is_empty());
    Ok(Volume {
        volume_id: row.id,
        name: row.value("name")?,
        owner_email: row.parsed("owner_email", |text| EmailAddress::parse(text).ok())?,
        template_id: template_id.map(|id| id.parse().map_err(|_| row.corrupt("template_id"))).transpose()?,
        template_name: row.value("template_name")?,
        size: row.value("size")?,
        created_at: row.time("created_at")?.ok_or_else(|| row.corrupt("created_at"))?,
        last_used_at: row.time("last_used_at")?.ok_or_else(|| row.corrupt("last_used_at"))?,
        kept_until: row.time("kept_until")?,
    })
}

/// Reads the columns of [`snapshot_columns`].
pub(crate) fn snapshot(row: &AnyRow) -> Result<Snapshot, StoreError> {
    let row = Reader::new(row, "snapshots", "snapshot_id")?;
    Ok(Snapshot {
        snapshot_id: row.id,
        owner_email: row.parsed("owner_email", |text| EmailAddress::parse(text).ok())?,
        template_id: row.parsed("template_id", |text| Uuid::parse_str(text).ok())?,
        template_name: row.value("template_name")?,
        k8s_name: row.value("k8s_name")?,
        bytes: u64::try_from(row.value::<i64>("bytes")?).map_err(|_| row.corrupt("bytes"))?,
        created_at: row.time("created_at")?.ok_or_else(|| row.corrupt("created_at"))?,
        kept_until: row.time("kept_until")?.ok_or_else(|| row.corrupt("kept_until"))?,
    })
}

/// Reads a row whose only column is `snapshot_id`.
pub(crate) fn snapshot_id(row: &AnyRow) -> Result<Uuid, StoreError> {
    Ok(Reader::new(row, "snapshots", "snapshot_id")?.id)
}

fn listing(row: &Reader<'_>) -> Result<Listing, StoreError> {
    let icon: Option<String> = row.value("icon")?;
    Ok(Listing {
        tags: row.json("tags")?.ok_or_else(|| row.corrupt("tags"))?,
        icon: icon.map(|text| Icon::parse(&text).ok_or_else(|| row.corrupt("icon"))).transpose()?,
        unlisted: row.value::<i64>("unlisted")? == 1,
        slug: row.value("slug")?,
    })
}

pub(crate) fn activity(row: &AnyRow) -> Result<LoggedActivity, StoreError> {
    let activity_id: i64 = row.try_get("activity_id")?;
    let id = Uuid::from_u128(u128::from(activity_id.unsigned_abs()));
    let row = Reader { row, table: "activities", id };
    let act = Act { actor_email: row.email("actor_email")?, at: row.time("at")?.ok_or_else(|| row.corrupt("at"))? };
    let activity = Activity {
        act,
        action: row.parsed("action", ActivityAction::parse)?,
        subject: row.value("subject")?,
        subject_name: row.value("subject_name")?,
        owner_email: row.email("owner_email")?,
        detail: row.value("detail")?,
    };
    Ok(LoggedActivity { activity_id, activity })
}

pub(crate) fn all<T>(rows: &[AnyRow], read: fn(&AnyRow) -> Result<T, StoreError>) -> Result<Vec<T>, StoreError> {
    rows.iter().map(read).collect()
}

/// Reads rows for a loop. Skips and logs unreadable rows, so that they do not block the others.
pub(crate) fn readable(rows: &[AnyRow]) -> Vec<Instance> {
    rows.iter().filter_map(|row| reported(instance(row))).collect()
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
