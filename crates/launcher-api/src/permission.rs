//! The extractor for permissions. A handler that needs a permission gets its caller from [`Allowed`].

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use launcher_domain::Caller;
use launcher_domain::access::{Action, Verdict, decide};
use launcher_service::ServiceError;

use crate::problem::Problem;
use crate::state::{AppState, Call};

/// A permission as a type: an action that concerns no single object.
pub(crate) trait Permission: Send + Sync {
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
    ExtendBeyondMaximum,
    LaunchActive,
    LaunchInactive,
    ListAllInstances,
    ListAllVolumes,
    ManageClass,
    ManageTemplates,
    ReadActivities,
    RestartInstances
);

/// A request whose caller has a permission: a [`Call`] of the API, or the visitor of a page. Only its extraction creates it.
///
/// Handlers extract it before the body, so that callers without the permission learn nothing from errors in the body. A
/// handler that extracts `Result<Allowed<P>, Problem>` decides itself about the refusal.
#[derive(Debug, Clone)]
pub(crate) struct Allowed<P, R = Call> {
    request: R,
    permission: PhantomData<P>,
}

pub(crate) fn allows<P: Permission>(caller: &Caller) -> bool {
    decide(caller, P::ACTION) == Verdict::Granted
}

impl<P, R> Allowed<P, R> {
    /// Changes the request. The permission stays.
    pub(crate) fn map(self, change: impl FnOnce(R) -> R) -> Self {
        Self { request: change(self.request), ..self }
    }
}

impl<P, R> Deref for Allowed<P, R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.request
    }
}

impl<P: Permission, R> FromRequestParts<AppState> for Allowed<P, R>
where
    R: FromRequestParts<AppState, Rejection = Problem> + Borrow<Caller> + Send,
{
    type Rejection = Problem;

    /// Returns 403 if the action is forbidden, 404 if even the existence of the object is hidden from the caller.
    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let request = R::from_request_parts(parts, state).await?;
        match decide(request.borrow(), P::ACTION) {
            Verdict::Granted => Ok(Self { request, permission: PhantomData }),
            Verdict::Hidden => Err(Problem::not_found()),
            Verdict::Forbidden => Err(ServiceError::Forbidden.into()),
        }
    }
}
