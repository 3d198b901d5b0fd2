//! Errors of the use cases.

use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::instance::{RestartError, ResumeError, SuspendError};
use launcher_domain::lifetime::ExtendError;
pub use launcher_domain::messages::ErrorChain;
use launcher_domain::{Caller, ClassAccess, ClassAction, ClassClosure, FieldError, FieldRule, JoinRefusal};
use launcher_fleet::{FleetError, ReadError};
use launcher_store::{StoreError, VolumeUser};
use tokio::task::JoinError;
use tokio::time::error::Elapsed;

/// Error of a use case. Each variant maps to one HTTP answer.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The requested object does not exist, or the caller may not know that it exists.
    #[error("it does not exist")]
    NotFound,
    #[error("only an administrator may do this")]
    Forbidden,
    #[error("your role in this class does not permit this: ask a teacher of the class")]
    ClassRole,
    /// The request is invalid. Each error names its field.
    #[error("{} of the fields cannot be accepted", .0.len())]
    Invalid(Vec<FieldError>),
    #[error("the template is inactive: it cannot be launched any more")]
    TemplateInactive,
    /// The class does not allow the template any more. Each error names the field of the template.
    #[error("the class does not allow this template any more: {}", details(.0))]
    TemplateNotAllowed(Vec<FieldError>),
    /// The caller has reached the instance limit of one person.
    #[error("you have {held} workshops already and may have {limit} at a time: {}", limit_advice(*ending))]
    InstanceLimitReached {
        /// Maximum instances of one person.
        limit: u32,
        /// Instances that the caller holds.
        held: u32,
        /// The part of `held` that is suspending or terminating. Such an instance counts until its workload is gone.
        ending: u32,
    },
    /// The class, or the caller in the class, has reached its limit of workshops.
    #[error("{}", class_limit_advice(*limit, *is_of_caller))]
    ClassLimitReached {
        limit: u32,
        /// True for the limit of the caller in the class.
        is_of_caller: bool,
    },
    /// The class is archived, or its last day is over.
    #[error("the class is over: its workshops cannot be launched any more")]
    ClassOver,
    /// The first day of the class is in the future.
    #[error("the class has not begun: its workshops can be launched from its first day on")]
    ClassNotBegun,
    #[error("no class has this code: compare it with the one that your teacher shows, letter by letter")]
    UnknownJoinCode,
    #[error("you have tried many wrong codes: try again in {retry_after} s")]
    TooManyJoinCodes {
        /// Whole seconds until the next attempt is possible, at least 1.
        retry_after: u32,
    },
    #[error("you raised or lowered your hand many times: try again in {retry_after} s")]
    TooManyHandChanges {
        /// Whole seconds until the next change is possible, at least 1.
        retry_after: u32,
    },
    #[error("{0}")]
    JoinRefused(JoinRefusal),
    #[error("the class has changed since it was read: read it again and repeat the change on top of it")]
    ClassVersionMismatch,
    #[error("you have launched many workshops in a short time: try again in {retry_after} s")]
    TooManyLaunches {
        /// Whole seconds until the next launch is possible, at least 1.
        retry_after: u32,
    },
    #[error("too many workshops are waiting to start: try again in a minute")]
    AtCapacity,
    /// An instance uses the volume with the kept files.
    #[error("your {}", volume_advice(.0))]
    VolumeInUse(VolumeUser),
    /// The launch needs a new volume, with which the caller's volumes would exceed the limit of one person.
    #[error(
        "your saved work may have {limit_gib} GiB in total: delete saved work that you no longer need, then launch again"
    )]
    StorageLimitReached {
        /// Maximum total size of one person's volumes, in GiB.
        limit_gib: u32,
    },
    #[error("this Idempotency-Key was used for a different launch: use a new key for a new launch")]
    IdempotencyKeyReused,
    #[error(transparent)]
    Extend(#[from] ExtendError),
    #[error(transparent)]
    Suspend(#[from] SuspendError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Restart(#[from] RestartError),
    #[error("the template has changed since it was read: read it again and repeat the change on top of it")]
    VersionMismatch,
    #[error("the fleet of this launcher does not manage images: only the container fleet does")]
    FleetWithoutImages,
    #[error(
        "this launcher cannot check course material: the program launcher-material is missing, or its settings permit no checks. Save the template and try it"
    )]
    FleetWithoutChecks,
    #[error("other checks of course material are in progress: try again in half a minute")]
    TooManyChecks,
    #[error("the fleet of this launcher cannot read kept files: open a workshop, and download them there")]
    FleetWithoutDownloads,
    #[error(
        "the files could not be opened in time: try again in a minute, or launch a workshop and download them there"
    )]
    DownloadNotReady(#[source] ReadError),
    #[error(
        "you already have a download in progress, or too many other downloads are in progress: try again in a minute"
    )]
    TooManyDownloads,
    /// The object store with the saved files does not answer; `None`: this launcher has none.
    #[error("the saved files cannot be read now: try again in a minute")]
    SnapshotsUnavailable(Option<launcher_snapshots::StoreError>),
    #[error("the fleet does not answer")]
    FleetUnavailable(#[source] FleetError),
    #[error("the database does not answer")]
    Unavailable(#[source] StoreError),
    /// A defect of the launcher.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Returns errors with their fields as one text.
fn details(errors: &[FieldError]) -> String {
    let detail = |error: &FieldError| format!("{}: {}", error.pointer, error.rule);
    errors.iter().map(detail).collect::<Vec<_>>().join("; ")
}

/// Advice for a caller at the instance limit, given the number of suspending and terminating workshops.
fn limit_advice(ending: u32) -> String {
    match ending {
        0 => "end one of them first".to_owned(),
        1 => "one of them is still ending and counts until it is gone, so try again in a moment".to_owned(),
        _ => format!("{ending} of them are still ending and count until they are gone, so try again in a moment"),
    }
}

/// Advice for a caller at a limit of a class.
fn class_limit_advice(limit: u32, is_of_caller: bool) -> String {
    if is_of_caller {
        format!("you may have {limit} workshops at a time in this class: end one of them first")
    } else {
        format!("this class may have {limit} workshops at a time: wait until one ends, or ask your teacher")
    }
}

impl From<ClassClosure> for ServiceError {
    fn from(closure: ClassClosure) -> Self {
        match closure {
            ClassClosure::NotBegun => Self::ClassNotBegun,
            ClassClosure::Over => Self::ClassOver,
        }
    }
}

/// Refuses callers whose role in the class does not permit this action.
pub(crate) fn require_in(access: &ClassAccess, action: ClassAction) -> Result<(), ServiceError> {
    if access.allows(action) { Ok(()) } else { Err(ServiceError::ClassRole) }
}

/// Refuses callers who may not perform this action. Use it for actions that are not hidden from them.
pub(crate) fn require(caller: &Caller, action: Action) -> Result<(), ServiceError> {
    match decide(caller, action) {
        Verdict::Granted => Ok(()),
        Verdict::Hidden | Verdict::Forbidden => Err(ServiceError::Forbidden),
    }
}

impl ServiceError {
    /// Returns the error for one field.
    pub(crate) fn invalid(pointer: &str, rule: FieldRule) -> Self {
        Self::Invalid(vec![FieldError::new(pointer, rule)])
    }

    /// Returns the error for a row that changed concurrently at each attempt to change it.
    pub(crate) fn exhausted() -> Self {
        Self::Internal("concurrent changes of the same row exhausted the attempts".into())
    }
}

/// Names the workshop that has the kept files, and what the caller can do with it.
fn volume_advice(VolumeUser { k8s_name, is_suspended }: &VolumeUser) -> String {
    if *is_suspended {
        format!("paused workshop {k8s_name} has these files: resume it, or end it first")
    } else {
        format!("workshop {k8s_name} uses these files: end it first, or continue there")
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Unavailable(error),
            StoreError::ClassRole => Self::ClassRole,
            StoreError::TooManyClasses { limit } => {
                Self::invalid("/archived", FieldRule::ClassCount { limit: limit.to_string() })
            }
            StoreError::NoTeacher => Self::invalid("/role", FieldRule::LastTeacher),
            StoreError::TooManyMembers => Self::invalid("", FieldRule::MemberCount),
            StoreError::SlugTaken { slug } => Self::invalid("/slug", FieldRule::SlugTaken { slug }),
            StoreError::ClassSlugTaken { slug } => Self::invalid("/slug", FieldRule::ClassSlugTaken { slug }),
            other => Self::Internal(Box::new(other)),
        }
    }
}

/// Returns the result of a task of a loop, and continues its panic. `None` if the task was cancelled: the runtime shuts down.
pub(crate) fn finished<T>(ended: Result<T, JoinError>) -> Option<T> {
    ended.map_err(|error| error.try_into_panic().map(|panic| std::panic::resume_unwind(panic))).ok()
}

/// Error of a loop of the service while it handles one instance.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoopError {
    #[error("the fleet did not answer in time")]
    Timeout(#[from] Elapsed),
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The database failed, or the launcher has a defect.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl LoopError {
    /// True when a retry may succeed although no person repairs anything.
    pub(crate) fn is_transient(&self) -> bool {
        !matches!(self, Self::Service(ServiceError::Internal(_)) | Self::Fleet(FleetError::Refused(_)))
    }
}

impl From<StoreError> for LoopError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}
