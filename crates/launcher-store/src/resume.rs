//! Resumes. One transaction decides whether a suspended instance enters the queue again.

use launcher_domain::{Act, Activity, Instance};

use crate::error::StoreError;
use crate::launch::{LaunchOutcome, LaunchRules};
use crate::rows;
use crate::sql::query;
use crate::store::Store;

/// Writes the columns that [`Instance::resume`] changes, if the row still has the revision that was read. The instance
/// gets the last queue position.
pub(crate) const RESUME: &str = concat!(
    "UPDATE workshop_instances SET state = $1, suspended_at = NULL, resumed_at = $2, started_at = NULL, \
     expires_at = NULL, restarted_at = NULL, last_crash = NULL, material = NULL, applied_version = $3, \
     workshop_uid = NULL, former_uid = $4, revision = $5, launch_number = $5 \
     WHERE instance_id = $6 AND revision = $7 RETURNING ",
    instance_columns!()
);

/// Outcome of a resume. Only `Resumed` writes to the database.
#[derive(Debug, Clone, PartialEq)]
pub enum ResumeOutcome {
    /// The instance is queued.
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
        let revision = match write.admit(owner, rules, (full_at, act.at)).await? {
            Ok(revision) => revision,
            Err(refusal) => return Ok(ResumeOutcome::Refused(refusal)),
        };
        let row = query(RESUME)
            .bind(after.state.as_str())
            .bind(rows::millis(after.resumed_at))
            .bind(after.applied_version)
            .bind(after.former_uid.clone())
            .bind(revision)
            .bind(before.instance_id.to_string())
            .bind(before.revision)
            .fetch_optional(write.connection())
            .await?;
        let Some(row) = row else { return Ok(ResumeOutcome::Changed) };
        // After the check of the revision: the volume of an ended instance may be deleted.
        if let Some(user) = write.use_volume_again(before, act.at).await? {
            return Ok(ResumeOutcome::Refused(LaunchOutcome::VolumeInUse(user)));
        }
        let resumed = rows::instance(&row)?;
        if let Some(activity) = Activity::of_change(before, &resumed, act) {
            write.log_activity(revision, &activity).await?;
        }
        write.commit().await?;
        Ok(ResumeOutcome::Resumed(resumed))
    }
}
