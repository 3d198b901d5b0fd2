//! Use cases of instances: list, read, extend, restart, terminate.

use jiff::Timestamp;
use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::{Caller, EndReason};
use launcher_store::{Cursor, InstanceCount, InstanceFilter, ListedInstance, Page, SortOrder};

use crate::change::Target;
use crate::error::ServiceError;
use crate::launcher::Launcher;

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

    /// Extends the lifetime of an instance once. `expected_expires_at` is the expiry that the caller saw.
    ///
    /// # Errors
    /// NotFound, Extend, Unavailable.
    pub async fn extend(
        &self,
        caller: &Caller,
        k8s_name: &str,
        expected_expires_at: Option<Timestamp>,
    ) -> Result<ListedInstance, ServiceError> {
        let now = self.0.clock.now();
        self.change_instance(Target::ByCaller(caller, k8s_name), |instance| {
            Ok(Some(instance.extend(expected_expires_at, now)?))
        })
        .await?
        .map(|instance| ListedInstance { instance, queue_position: None })
        .ok_or(ServiceError::NotFound)
    }

    /// Restarts a running instance that has an older version of sidecar or settings, for admins. The fleet replaces the
    /// workload, and unsaved work is lost. The expiry does not change. A repeated request does not restart the instance
    /// twice, because the instance is no longer outdated.
    ///
    /// # Errors
    /// Forbidden, NotFound, Restart, Unavailable.
    pub async fn restart(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        match decide(caller, Action::RestartInstances) {
            Verdict::Granted => {}
            Verdict::Hidden | Verdict::Forbidden => return Err(ServiceError::Forbidden),
        }
        let now = self.0.clock.now();
        self.change_instance(Target::ByCaller(caller, k8s_name), |instance| Ok(Some(instance.restart(now)?)))
            .await?
            .map(|instance| ListedInstance { instance, queue_position: None })
            .ok_or(ServiceError::NotFound)
    }

    /// Terminates an instance, or dismisses a failed one. Idempotent.
    ///
    /// # Errors
    /// NotFound, Unavailable.
    pub async fn terminate(&self, caller: &Caller, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        let now = self.0.clock.now();
        self.change_instance(Target::ByCaller(caller, k8s_name), |instance| {
            let by = if instance.owner_email == *caller.email() { EndReason::Owner } else { EndReason::Admin };
            Ok(instance.terminate(by, now))
        })
        .await?
        .map(|instance| ListedInstance { instance, queue_position: None })
        .ok_or(ServiceError::NotFound)
    }
}
