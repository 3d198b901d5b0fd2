//! Use cases of instances: list, read, extend, suspend, resume, restart, terminate; admins read the activity log.

use jiff::Timestamp;
use launcher_domain::access::Action;
use launcher_domain::lifetime::Bound;
use launcher_domain::{Act, Activity, ActivityAction, Caller, EmailAddress, EndReason, Instance};
use launcher_store::{
    ActivityFilter, Cursor, InstanceCount, InstanceFilter, ListedInstance, LoggedActivity, Page, ResumeOutcome,
    SortOrder,
};

use crate::change::{ATTEMPTS, Target};
use crate::error::{ServiceError, require};
use crate::launcher::Launcher;
use crate::templates::Catalog;

/// Refuses callers who may not extend instances within this bound. The answer does not depend on the instance.
pub(crate) fn require_bound(caller: &Caller, bound: Bound) -> Result<(), ServiceError> {
    match bound {
        Bound::Maximum => Ok(()),
        Bound::Longest => require(caller, Action::ExtendBeyondMaximum),
    }
}

impl Launcher {
    /// Lists a page of the caller's instances, newest first. An admin gets the instances of all owners. A search
    /// examines only the newest 20,000 instances that match the rest of the filter.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn instances(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
        page: &Page,
    ) -> Result<Vec<ListedInstance>, ServiceError> {
        Ok(self.0.store.instances(caller, filter, page).await?)
    }

    /// Lists at most `limit` of the caller's instances (all owners for an admin) in this order, after this cursor. Any
    /// order except launch order reads all instances that match the filter. For such an order, the filter must exclude
    /// ended instances.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn sorted_instances(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
        order: SortOrder,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Vec<ListedInstance>, ServiceError> {
        Ok(self.0.store.sorted_instances(caller, filter, order, after, limit).await?)
    }

    /// Counts the caller's instances (all owners for an admin) that match the filter, among the newest 20,000.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn count_instances(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
    ) -> Result<InstanceCount, ServiceError> {
        Ok(self.0.store.count_instances(caller, filter).await?)
    }

    /// Returns one instance that the caller may see.
    ///
    /// # Errors
    /// NotFound when the instance does not exist or belongs to another person; Unavailable.
    pub async fn instance(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        self.0.store.instance(caller, k8s_name).await?.ok_or(ServiceError::NotFound)
    }

    /// Extends the lifetime of an instance once. `expected_expires_at` is the expiry that the caller saw. Only admins extend
    /// it beyond its maximum lifetime.
    ///
    /// # Errors
    /// Forbidden, NotFound, Extend, Unavailable.
    pub async fn extend(
        &self,
        caller: &Caller,
        k8s_name: &str,
        expected_expires_at: Option<Timestamp>,
        bound: Bound,
    ) -> Result<ListedInstance, ServiceError> {
        require_bound(caller, bound)?;
        let (target, now) = (Target::ByCaller(caller, k8s_name), self.0.clock.now());
        self.change_listed(target, |instance| Ok(Some(instance.extend(expected_expires_at, bound, now)?))).await
    }

    /// Restarts a running instance that has an older version of sidecar or settings, for admins. The fleet replaces the
    /// workload, and unsaved work is lost. The expiry does not change. A repeated request does not restart the instance
    /// twice, because the instance is no longer outdated.
    ///
    /// # Errors
    /// Forbidden, NotFound, Restart, Unavailable.
    pub async fn restart(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        require(caller, Action::RestartInstances)?;
        let (target, now) = (Target::ByCaller(caller, k8s_name), self.0.clock.now());
        self.change_listed(target, |instance| Ok(Some(instance.restart(now)?))).await
    }

    /// Terminates an instance, or dismisses a failed one. Idempotent.
    ///
    /// # Errors
    /// NotFound, Unavailable.
    pub async fn terminate(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let (target, now) = (Target::ByCaller(caller, k8s_name), self.0.clock.now());
        self.change_listed(target, |instance| {
            let by = if instance.owner_email == *caller.email() { EndReason::Owner } else { EndReason::Admin };
            Ok(instance.terminate(by, now))
        })
        .await
    }

    /// Suspends a running instance with a volume: the fleet removes the workload, and the volume stays. Idempotent.
    ///
    /// # Errors
    /// NotFound, Suspend, Unavailable.
    pub async fn suspend(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let (target, now) = (Target::ByCaller(caller, k8s_name), self.0.clock.now());
        self.change_listed(target, |instance| Ok(instance.suspend(now)?)).await
    }

    /// Resumes a suspended instance: it waits in the queue like a launch, then starts with its earlier name, settings and
    /// volume. The limits of a launch apply. Idempotent.
    ///
    /// # Errors
    /// NotFound, Resume, ClassOver, ClassNotBegun, InstanceLimitReached, ClassLimitReached, TooManyLaunches, AtCapacity, VolumeInUse, Unavailable.
    pub async fn resume(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let resumed = self.resume_row(caller, k8s_name).await?;
        Ok(self.with_position(caller, resumed).await)
    }

    /// Reads an instance that was just queued again, for its queue position. If this read fails, the answer omits the
    /// position: the change is already stored.
    pub(crate) async fn with_position(&self, caller: &Caller, instance: Instance) -> ListedInstance {
        let listed = self.0.store.instance(caller, &instance.k8s_name).await.ok().flatten();
        listed.unwrap_or(ListedInstance::from(instance))
    }

    async fn resume_row(&self, caller: &Caller, k8s_name: &str) -> Result<Instance, ServiceError> {
        let target = Target::ByCaller(caller, k8s_name);
        let template_id = self.load(target).await?.ok_or(ServiceError::NotFound)?.template_id;
        let class = self.class_of_template(caller, template_id).await?;
        if let Some(closure) = class.as_ref().and_then(|access| access.closure(self.0.clock.now())) {
            return Err(closure.into());
        }
        let rules = self.rules(Catalog::of(caller, class.as_ref()));
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
                ResumeOutcome::Refused(refusal) => return Err(self.refusal(caller.email(), refusal)),
            }
        }
        Err(ServiceError::exhausted())
    }

    /// Returns the last downloads of the caller's files by other persons, newest first.
    pub async fn downloads_by_others(&self, caller: &Caller) -> Result<Vec<LoggedActivity>, ServiceError> {
        Ok(self.0.store.downloads_by_others(caller.email()).await?)
    }

    /// Logs the download of files that belong to another person. No one else gets files without an entry.
    pub(crate) async fn log_download(
        &self,
        caller: &Caller,
        owner: &EmailAddress,
        entry: impl FnOnce(ActivityAction, Act) -> Activity,
    ) -> Result<(), ServiceError> {
        if caller.email() == owner {
            return Ok(());
        }
        let act = Act { actor_email: Some(caller.email().clone()), at: self.0.clock.now() };
        Ok(self.0.store.log(&entry(ActivityAction::FilesDownloaded, act)).await?)
    }

    /// Lists a page of the activity log, newest first.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn activities(
        &self,
        caller: &Caller,
        filter: &ActivityFilter,
        page: &Page<i64>,
    ) -> Result<Vec<LoggedActivity>, ServiceError> {
        require(caller, Action::ReadActivities)?;
        Ok(self.0.store.activities(filter, page).await?)
    }
}
