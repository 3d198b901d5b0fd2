//! Launches. One transaction decides whether a launch is stored, refused, or answered with an earlier launch.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{
    Act, Activity, Caller, ClassAccess, ClassAction, ClassLimits, Instance, InstanceState, LaunchRate, SecretValues,
};
use sqlx::{Any, AnyConnection, Executor, Row};

use crate::error::StoreError;
use crate::sql::{in_time, query};
use crate::store::{Store, WriteTransaction};
use crate::table::Record;
use crate::templates::StoredSettings;
use crate::volumes::{Claim, VolumeUser, resized};
use crate::{queue, rows};

/// Limits of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRules {
    /// Maximum instances of the owner that count against the limit; `None` without limit.
    pub max_per_user: Option<u32>,
    /// Launch rate limit of the owner; `None` without limit.
    pub rate: Option<LaunchRate>,
    /// Maximum instances in the queue.
    pub max_queued: u32,
    /// Maximum total size of the owner's volumes, in GiB; `None` without limit.
    pub max_storage_gib: Option<u32>,
    /// Limits of the class whose template is launched; `None` for a template of the shared catalog.
    pub class: Option<ClassLimits>,
}

/// Idempotency key of a launch, with the hash of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Key as the caller sent it. Keys of different callers are independent.
    pub key: String,
    /// Hash of the request without the key.
    pub body_hash: String,
}

/// Outcome of a launch. Only `Created` writes to the database.
#[derive(Debug, Clone, PartialEq)]
pub enum LaunchOutcome {
    /// The instance was stored in state queued.
    Created(Instance),
    /// An earlier launch had the same key and body. Contains its instance in the current state.
    Replayed(Instance),
    /// The same key was used before with another body.
    KeyReused,
    LimitReached {
        /// Maximum instances of the owner.
        limit: u32,
        /// Instances that count against the limit.
        held: u32,
        /// The part of `held` that is suspending or terminating. Such an instance counts until its workload is gone.
        ending: u32,
    },
    /// The owner is not a member of the class any more.
    NotMember,
    /// The owner, for whom a teacher launches, has an instance of the template already.
    HasInstance,
    /// The class, or the owner in the class, has reached its limit.
    ClassLimitReached {
        limit: u32,
        /// True for the limit of the owner in the class.
        is_of_owner: bool,
    },
    TooManyLaunches {
        /// Time until the next launch is possible.
        wait: Duration,
    },
    /// The queue is full.
    AtCapacity,
    /// Another instance of the owner uses the volume.
    VolumeInUse(VolumeUser),
    /// The launch needs a new volume, with which the owner's volumes would exceed the limit.
    StorageLimitReached {
        /// Maximum total size of the owner's volumes, in GiB.
        limit_gib: u32,
    },
    /// Another instance has this `k8s_name`. The caller must generate a new name.
    NameTaken,
}

pub(crate) const GATE: &str = "INSERT INTO launch_gate (owner_email, launches) VALUES ($1, 1) \
                               ON CONFLICT (owner_email) DO UPDATE SET launches = launch_gate.launches + 1 \
                               RETURNING full_at";
const TAKE_TOKEN: &str = "UPDATE launch_gate SET full_at = $1 WHERE owner_email = $2";
pub(crate) const KEY: &str =
    "SELECT body_hash, k8s_name FROM idempotency_keys WHERE owner_email = $1 AND idempotency_key = $2";
const INSERT_KEY: &str = "INSERT INTO idempotency_keys (owner_email, idempotency_key, body_hash, k8s_name, created_at) \
                          VALUES ($1, $2, $3, $4, $5)";
pub(crate) const BY_NAME: &str = instances!(" WHERE k8s_name = $1");
/// Counts the instances of an owner for which [`Instance::counts_against_limit`] is true, and those of them that are
/// suspending or terminating.
pub(crate) const HELD: &str = "SELECT count(*) AS held, \
     count(CASE WHEN state IN ('suspending', 'terminating') THEN 1 END) AS ending \
     FROM workshop_instances WHERE owner_email = $1 AND state IN ('queued', 'starting', 'running', 'suspending', 'terminating') \
     AND (end_reason IS NULL OR end_reason <> 'failed')";
pub(crate) const MEMBER: &str =
    "SELECT 1 FROM class_members WHERE email = $1 AND class_id = $2 AND removed_at IS NULL LIMIT 1";
/// Counts the instances of the templates of a class for which [`Instance::counts_against_limit`] is true, and those of them
/// that the owner has.
pub(crate) const HELD_IN_CLASS: &str = "SELECT count(*) AS held, count(CASE WHEN owner_email = $1 THEN 1 END) AS own \
     FROM workshop_instances WHERE template_id IN (SELECT template_id FROM workshop_templates WHERE class_id = $2) \
     AND state IN ('queued', 'starting', 'running', 'suspending', 'terminating') \
     AND (end_reason IS NULL OR end_reason <> 'failed')";
/// Finds an instance of an owner and a template that is neither ending nor failed.
pub(crate) const LIVE_OF_TEMPLATE: &str = "SELECT 1 FROM workshop_instances WHERE owner_email = $1 AND template_id = $2 \
     AND state IN ('queued', 'starting', 'running', 'suspending', 'suspended') LIMIT 1";
pub(crate) const QUEUED: &str = "SELECT count(*) FROM workshop_instances WHERE state = 'queued'";
pub(crate) const QUEUED_IN: &str =
    "SELECT count(*) FROM workshop_instances WHERE state = 'queued' AND coalesce(namespace, '') = $1";
static INSERT: LazyLock<String> = LazyLock::new(|| {
    format!("{} ON CONFLICT (k8s_name) DO NOTHING RETURNING {}", Instance::TABLE.insert(), instances!(columns))
});

impl Store {
    /// Stores the instance in state queued with `spec_version` and `applied_version` 0, regardless of these fields of
    /// `instance`. If the key was used before, returns the earlier instance. If the owner already has the volume of this
    /// template, the instance gets it; otherwise this call creates a volume named `instance.volume`. Refuses a launch
    /// beyond a limit. The rate limit uses `created_at` as the current time. Only a stored launch takes a token.
    ///
    /// The limits are exact under concurrent launches: one owner's launches are serialized by the owner's `launch_gate`
    /// row, and all launches by the change counter.
    ///
    /// Stores the secret parameters until the end of the instance is decided. With `by`, launches for a member of the class, whose
    /// owner is not the caller, unless the owner has an instance of the template that is neither ending nor failed.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when `by` is neither an admin nor a teacher of the class any more; otherwise [`StoreError`].
    /// Nothing was written.
    pub async fn launch(
        &self,
        by: Option<&ClassAccess>,
        instance: &Instance,
        secrets: &SecretValues,
        rules: &LaunchRules,
        key: Option<&IdempotencyKey>,
    ) -> Result<LaunchOutcome, StoreError> {
        let settings = StoredSettings::of(&instance.settings)?;
        let mut write = self.write().await?;
        let owner = instance.owner_email.as_str();
        let full_at = write.lock_gate(owner).await?;
        // The lock of the gate orders the launches of the owner: parallel requests launch once.
        if by.is_some() && write.has_live(instance).await? {
            return Ok(LaunchOutcome::HasInstance);
        }
        if let Some(key) = key
            && let Some(outcome) = replay(write.connection(), owner, key).await?
        {
            return Ok(outcome);
        }
        let (revision, queue_number) =
            match write.admit((owner, instance.namespace.as_deref()), rules, (full_at, instance.created_at)).await? {
                Ok(admitted) => admitted,
                Err(refusal) => return Ok(refusal),
            };
        // After the lock of the change counter, which orders the changes of members.
        if let Some(access) = by {
            write.require(access, ClassAction::LaunchForMembers).await?;
        }
        let claimed = match write.claim_volume(instance, rules.max_storage_gib).await? {
            Claim::Claimed(claimed) => claimed,
            Claim::InUse(user) => return Ok(LaunchOutcome::VolumeInUse(user)),
            Claim::TooLarge { limit_gib } => return Ok(LaunchOutcome::StorageLimitReached { limit_gib }),
        };
        let resized = claimed.as_ref().map(|volume| resized(&instance.settings, volume));
        let settings = resized.as_ref().map(StoredSettings::of).transpose()?.unwrap_or(settings);
        // The files of a volume stay in its namespace, also after a change of the class.
        let namespace = claimed.as_ref().map_or_else(|| instance.namespace.clone(), |volume| volume.namespace.clone());
        let volume = claimed.map(|volume| volume.name);
        write.store_settings(&settings).await?;
        let (state, spec_version, applied_version) = (InstanceState::Queued, 0, 0);
        let queued = Instance { state, spec_version, applied_version, revision, volume, namespace, ..instance.clone() };
        let Some(created) = insert(&mut write, &queued, settings.hash, secrets, queue_number).await? else {
            return Ok(LaunchOutcome::NameTaken);
        };
        if let Some(key) = key {
            insert_key(&mut write, &created, key).await?;
        }
        let by = by.map_or(&created.owner_email, |access| access.caller().email());
        write.log_activity(revision, &Activity::of_launch(&created, by)).await?;
        write.commit().await?;
        Ok(LaunchOutcome::Created(created))
    }

    /// Returns the earlier launch of this caller with this key as [`LaunchOutcome::Replayed`] or
    /// [`LaunchOutcome::KeyReused`]; `None` if the key is unused. Reads without the write lock, so a launch in progress
    /// with this key does not count yet.
    pub async fn launched_before(
        &self,
        caller: &Caller,
        key: &IdempotencyKey,
    ) -> Result<Option<LaunchOutcome>, StoreError> {
        let mut connection = in_time(self.pool.acquire()).await?;
        replay(&mut connection, caller.email().as_str(), key).await
    }
}

impl WriteTransaction {
    async fn has_live(&mut self, instance: &Instance) -> Result<bool, StoreError> {
        let (owner, template) = (instance.owner_email.to_string(), instance.template_id.to_string());
        let row = query(LIVE_OF_TEMPLATE).bind(owner).bind(template).fetch_optional(self.connection()).await?;
        Ok(row.is_some())
    }

    /// Locks the owner's gate row, which serializes the owner's launches. Returns the time at which the owner's token
    /// bucket is full again.
    pub(crate) async fn lock_gate(&mut self, owner: &str) -> Result<i64, StoreError> {
        Ok(query(GATE).bind(owner.to_owned()).fetch_one(self.connection()).await?.try_get("full_at")?)
    }

    /// Checks the limits for one more instance of the owner, whose gate row is locked, in this namespace, and takes a token.
    /// Returns the revision of the change and the instance's order in the queue, or the refusal. Each namespace has a queue
    /// limit of its own: one whose quota is full does not refuse the launches of others.
    pub(crate) async fn admit(
        &mut self,
        (owner, namespace): (&str, Option<&str>),
        rules: &LaunchRules,
        (full_at, now): (i64, Timestamp),
    ) -> Result<Result<(i64, i64), LaunchOutcome>, StoreError> {
        if let Some(limit) = rules.max_per_user {
            let (held, ending) = held(self, owner).await?;
            if held >= limit {
                return Ok(Err(LaunchOutcome::LimitReached { limit, held, ending }));
            }
        }
        if let Some(rate) = rules.rate
            && let Err(wait) = take_token(self, owner, rate, (full_at, now)).await?
        {
            return Ok(Err(LaunchOutcome::TooManyLaunches { wait }));
        }
        let revision = self.take_revisions(1).await?;
        // After the lock of the change counter: parallel launches of a class are counted correctly.
        if let Some(limits) = rules.class
            && let Some(refusal) = class_refusal(self, owner, limits).await?
        {
            return Ok(Err(refusal));
        }
        let queued = query(QUEUED_IN).bind(namespace.unwrap_or_default().to_owned());
        let queued: i64 = queued.fetch_one(self.connection()).await?.try_get(0)?;
        if queued >= i64::from(rules.max_queued) {
            return Ok(Err(LaunchOutcome::AtCapacity));
        }
        let queue_number = queue::number(self.connection(), rules.class, revision).await?;
        Ok(Ok((revision, queue_number)))
    }
}

async fn replay(
    connection: &mut AnyConnection,
    owner: &str,
    key: &IdempotencyKey,
) -> Result<Option<LaunchOutcome>, StoreError> {
    let known = query(KEY).bind(owner.to_owned()).bind(key.key.clone()).fetch_optional(&mut *connection).await?;
    let Some(known) = known else { return Ok(None) };
    if known.try_get::<String, _>("body_hash")? != key.body_hash {
        return Ok(Some(LaunchOutcome::KeyReused));
    }
    let k8s_name: String = known.try_get("k8s_name")?;
    // A concurrent purge may have removed the key and its instance. The key then counts as unused.
    Ok(query(BY_NAME).bind(k8s_name).read_optional(connection).await?.map(LaunchOutcome::Replayed))
}

async fn held(write: &mut WriteTransaction, owner: &str) -> Result<(u32, u32), StoreError> {
    let row = query(HELD).bind(owner.to_owned()).fetch_one(write.connection()).await?;
    let (held, ending): (i64, i64) = (row.try_get("held")?, row.try_get("ending")?);
    Ok((u32::try_from(held).unwrap_or(u32::MAX), u32::try_from(ending).unwrap_or(u32::MAX)))
}

/// Returns the refusal of one more instance of the owner in a class.
async fn class_refusal(
    write: &mut WriteTransaction,
    owner: &str,
    limits: ClassLimits,
) -> Result<Option<LaunchOutcome>, StoreError> {
    let ClassLimits { class_id, max_workshops, max_of_owner, needs_member, .. } = limits;
    if needs_member {
        let member = query(MEMBER).bind(owner.to_owned()).bind(class_id.to_string());
        if member.fetch_optional(write.connection()).await?.is_none() {
            return Ok(Some(LaunchOutcome::NotMember));
        }
    }
    if max_workshops.is_none() && max_of_owner.is_none() {
        return Ok(None);
    }
    let class = class_id.to_string();
    let row = query(HELD_IN_CLASS).bind(owner.to_owned()).bind(class).fetch_one(write.connection()).await?;
    let (held, own) = (rows::count(&row, "held")?, rows::count(&row, "own")?);
    let reached = |limit: Option<u32>, count, is_of_owner| {
        let limit = limit.filter(|limit| count >= u64::from(*limit))?;
        Some(LaunchOutcome::ClassLimitReached { limit, is_of_owner })
    };
    Ok(reached(max_of_owner, own, true).or_else(|| reached(max_workshops, held, false)))
}

/// Takes a token from the owner's bucket, or returns the time until the next token.
async fn take_token(
    write: &mut WriteTransaction,
    owner: &str,
    rate: LaunchRate,
    (full_at, now): (i64, Timestamp),
) -> Result<Result<(), Duration>, StoreError> {
    let full_at = Timestamp::from_millisecond(full_at).unwrap_or(Timestamp::MIN);
    match rate.take(full_at, now) {
        Err(wait) => Ok(Err(wait)),
        Ok(full_at) => {
            query(TAKE_TOKEN).bind(full_at.as_millisecond()).bind(owner.to_owned()).execute(write.connection()).await?;
            Ok(Ok(()))
        }
    }
}

async fn insert(
    write: &mut WriteTransaction,
    instance: &Instance,
    settings_hash: String,
    secrets: &SecretValues,
    queue_number: i64,
) -> Result<Option<Instance>, StoreError> {
    let secrets = (!secrets.is_empty()).then(|| rows::json(secrets)).transpose()?;
    let insert = instance.bind_all(query(&INSERT))?.bind(settings_hash).bind(secrets).bind(queue_number);
    insert.read_optional(write.connection()).await
}

async fn insert_key(write: &mut WriteTransaction, created: &Instance, key: &IdempotencyKey) -> Result<(), StoreError> {
    query(INSERT_KEY)
        .bind(created.owner_email.as_str().to_owned())
        .bind(key.key.clone())
        .bind(key.body_hash.clone())
        .bind(created.k8s_name.clone())
        .bind(created.created_at.as_millisecond())
        .execute(write.connection())
        .await?;
    Ok(())
}

/// Runs a statement that returns a single count.
pub(crate) async fn count<'c>(on: impl Executor<'c, Database = Any>, sql: &'static str) -> Result<u32, StoreError> {
    let count: i64 = query(sql).fetch_one(on).await?.try_get(0)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Writes the columns that [`Instance::resume`] changes, if the row still has the revision that was read. The instance
/// gets a new order in the queue.
pub(crate) const RESUME: &str = concat!(
    "UPDATE workshop_instances SET state = $1, suspended_at = NULL, resumed_at = $2, started_at = NULL, \
     expires_at = NULL, restarted_at = NULL, report = '{}', applied_version = $3, \
     workshop_uid = NULL, former_uid = $4, revision = $5, queue_number = $6 \
     WHERE instance_id = $7 AND revision = $8 RETURNING ",
    instances!(columns)
);

/// Outcome of a resume. Only `Resumed` writes to the database.
#[derive(Debug, Clone, PartialEq)]
pub enum ResumeOutcome {
    Resumed(Instance),
    /// The row has changed since it was read: the caller must read it again.
    Changed,
    /// A limit refuses the resume, as it would refuse a launch, or another instance uses the volume.
    Refused(LaunchOutcome),
}

impl Store {
    /// Replaces `before`, which is suspended, by `after`, and writes an activity log entry. Checks the limits of a launch,
    /// in the same way as [`Store::launch`].
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn resume_instance(
        &self,
        before: &Instance,
        after: &Instance,
        rules: &LaunchRules,
        act: &Act,
    ) -> Result<ResumeOutcome, StoreError> {
        let mut write = self.write().await?;
        let owner = before.owner_email.as_str();
        let full_at = write.lock_gate(owner).await?;
        let (revision, queue_number) =
            match write.admit((owner, before.namespace.as_deref()), rules, (full_at, act.at)).await? {
                Ok(admitted) => admitted,
                Err(refusal) => return Ok(ResumeOutcome::Refused(refusal)),
            };
        let resumed = query(RESUME)
            .bind(after.state.as_str())
            .bind(rows::millis(after.resumed_at))
            .bind(after.applied_version)
            .bind(after.former_uid.clone())
            .bind(revision)
            .bind(queue_number)
            .bind(before.instance_id.to_string())
            .bind(before.revision)
            .read_optional(write.connection())
            .await?;
        let Some(resumed) = resumed else { return Ok(ResumeOutcome::Changed) };
        // After the check of the revision: the volume of an ended instance may be deleted.
        if let Some(user) = write.use_volume_again(before, act.at).await? {
            return Ok(ResumeOutcome::Refused(LaunchOutcome::VolumeInUse(user)));
        }
        if let Some(activity) = Activity::of_change(before, &resumed, act) {
            write.log_activity(revision, &activity).await?;
        }
        write.commit().await?;
        Ok(ResumeOutcome::Resumed(resumed))
    }
}
