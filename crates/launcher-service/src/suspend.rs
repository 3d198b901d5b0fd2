//! Use cases that suspend and resume an instance.

use launcher_domain::{Act, Caller, Instance};
use launcher_store::{ListedInstance, ResumeOutcome};

use crate::change::{ATTEMPTS, Target};
use crate::error::ServiceError;
use crate::launcher::Launcher;

impl Launcher {
    /// Suspends a running instance with a volume: the fleet removes the workload, and the volume stays. Idempotent.
    ///
    /// # Errors
    /// NotFound, Suspend, Unavailable.
    pub async fn suspend(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let now = self.0.clock.now();
        self.change_instance(Target::ByCaller(caller, k8s_name), |instance| Ok(instance.suspend(now)?))
            .await?
            .map(|instance| ListedInstance { instance, queue_position: None })
            .ok_or(ServiceError::NotFound)
    }

    /// Resumes a suspended instance: it waits in the queue like a launch, then starts with its earlier name, settings and
    /// volume. The limits of a launch apply. Idempotent.
    ///
    /// # Errors
    /// NotFound, Resume, InstanceLimitReached, TooManyLaunches, AtCapacity, VolumeInUse, Unavailable.
    pub async fn resume(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let resumed = self.resume_row(caller, k8s_name).await?;
        // Read the instance again for its queue position. If this read fails, the answer omits the position: the resume
        // is already stored.
        let listed = self.0.store.instance(caller, k8s_name).await.ok().flatten();
        Ok(listed.unwrap_or(ListedInstance { instance: resumed, queue_position: None }))
    }

    async fn resume_row(&self, caller: &Caller, k8s_name: &str) -> Result<Instance, ServiceError> {
        let target = Target::ByCaller(caller, k8s_name);
        let rules = self.rules(caller);
        for _ in 0..ATTEMPTS {
            let before = self.load(target).await?.ok_or(ServiceError::NotFound)?;
            let now = self.0.clock.now();
            let Some(after) = before.resume(now)? else { return Ok(before) };
            let act = Act { actor_email: target.actor(), at: now };
            match self.0.store.resume_instance(&before, &after, &rules, &act).await? {
                ResumeOutcome::Resumed(stored) => {
                    self.announce(&before, &stored);
                    return Ok(stored);
                }
                ResumeOutcome::Changed => {}
                ResumeOutcome::Refused(refusal) => return Err(self.refusal(caller, refusal)),
            }
        }
        Err(ServiceError::exhausted())
    }
}
