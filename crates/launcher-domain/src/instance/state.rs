//! States of an instance, and its end reason.

use crate::text_enum::text_enum;

text_enum! {
    /// Lifecycle state of an instance. The variants are in lifecycle order.
    ///
    /// ```text
    /// queued                       -> starting: dispatch promotes the instance
    /// starting                     -> running: the workshop is ready
    /// starting, running            -> failed: the workload is removed; the instance is listed until it is dismissed
    /// starting, running            -> terminated: the Workshop disappeared (lost)
    /// starting, running, failed    -> terminating: on request, and for starting and running also at the expiry
    /// running                      -> suspending: on request, or at the expiry if the template says so
    /// suspending                   -> suspended: the workload is gone
    /// suspended                    -> queued: on request
    /// suspending                   -> terminating: on request
    /// queued, suspended            -> terminated: on request
    /// terminating                  -> terminated: the workload is gone
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum InstanceState {
        /// Stored, waiting in the queue.
        Queued = "queued",
        /// The Workshop exists or is about to be created; the workshop is not ready yet.
        Starting = "starting",
        /// The workshop is ready: its owner can work in it.
        Running = "running",
        /// The workload is being removed. The instance can be resumed afterwards.
        Suspending = "suspending",
        /// The workload is gone. The instance has its volume, and can be resumed.
        Suspended = "suspended",
        /// The workload is being removed.
        Terminating = "terminating",
        /// The workload is gone.
        Terminated = "terminated",
        /// The instance failed; `reason` gives the cause.
        Failed = "failed",
    }
}

impl InstanceState {
    /// True when the Workshop of the instance should exist.
    #[must_use]
    pub fn wants_workshop(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

text_enum! {
    /// End reason of an instance.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EndReason {
        /// The owner terminated the instance.
        Owner = "owner",
        /// An admin terminated the instance.
        Admin = "admin",
        /// The workshop expired, or it was suspended for longer than the retention of its volume.
        Expired = "expired",
        /// The instance failed and was dismissed.
        Failed = "failed",
        /// Another program or a person deleted the Workshop.
        Lost = "lost",
    }
}
