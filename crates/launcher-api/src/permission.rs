//! The extractor for permissions. A handler that needs a permission gets its caller only from [`Allowed`].

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::request::Parts;
use launcher_domain::Caller;
use launcher_domain::access::{Action, Verdict, decide};
use launcher_service::ServiceError;

use crate::identity::Identified;
use crate::problem::Problem;

/// A permission as a type: an action that concerns no single object.
pub(crate) trait Permission: Send + Sync {
    /// The action that the permission allows.
    const ACTION: Action<'static>;
}

macro_rules! permissions {
    ($($name:ident),*) => {
        $(
            #[doc = concat!("Permission for [`Action::", stringify!($name), "`].")]
            #[derive(Debug, Clone)]
            pub(crate) enum $name {}

            impl Permission for $name {
                const ACTION: Action<'static> = Action::$name;
            }
        )*
    };
}

permissions!(
    LaunchActive,
    LaunchInactive,
    ListAllInstances,
    ListAllVolumes,
    ManageClass,
    ManageTemplates,
    ReadActivities,
    RestartInstances
);

/// A caller with a permission. Only [`Allowed::check`] creates it.
///
/// Handlers extract it before the body, so that callers without the permission learn nothing from errors in the body. A
/// handler that extracts `Result<Allowed<P>, Problem>` decides itself about the refusal.
#[derive(Debug, Clone)]
pub(crate) struct Allowed<P> {
    pub(crate) caller: Caller,
    permission: PhantomData<P>,
}

impl<P: Permission> Allowed<P> {
    /// Checks the permission of a caller.
    ///
    /// # Errors
    /// 403 if the action is forbidden, 404 if even the existence of the object is hidden from the caller.
    pub(crate) fn check(caller: Caller) -> Result<Self, Problem> {
        match decide(&caller, P::ACTION) {
            Verdict::Granted => Ok(Self { caller, permission: PhantomData }),
            Verdict::Hidden => Err(Problem::not_found()),
            Verdict::Forbidden => Err(ServiceError::Forbidden.into()),
        }
    }
}

impl<S: Send + Sync, P: Permission> FromRequestParts<S> for Allowed<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Identified(caller) = Identified::from_request_parts(parts, state).await?;
        Self::check(caller)
    }
}
