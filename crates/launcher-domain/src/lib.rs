//! The rules of the workshop launcher, and nothing else: no I/O, no HTTP, no SQL, no Kubernetes.
//!
//! Who may do what ([`access`]), what a template and an instance are ([`template`], [`instance`]), how long a workshop
//! lives ([`lifetime`]), what it is called ([`names`]), what the log says of it ([`activity`]). Time and randomness come
//! in through [`clock`].

pub mod access;
pub mod activity;
pub mod caller;
pub mod clock;
pub mod email;
pub mod failure;
pub mod identity;
pub mod instance;
pub mod lifetime;
pub mod limits;
pub mod local_path;
pub mod names;
pub mod proof;
pub mod quantity;
pub mod start_step;
pub mod template;

pub use access::{Action, Scope, Verdict};
pub use activity::{Act, Activity, ActivityAction};
pub use caller::{AdminList, Caller};
pub use clock::{Clock, Entropy};
pub use email::EmailAddress;
pub use failure::{FailureCode, FailureReason};
pub use instance::{EndReason, Instance, InstanceState};
pub use limits::{LaunchRate, Limits};
pub use proof::ProxySecret;
pub use start_step::StartStep;
pub use template::{AppType, FieldError, SecurityProfile, Template, TemplateDraft, TemplateSettings};
