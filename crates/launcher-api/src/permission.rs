//! The extractor for permissions. A handler that needs a permission gets its caller from [`Allowed`].

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::{Caller, ClassAccess, ClassAction};
use launcher_service::ServiceError;

use crate::extract::path_part;
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
    CreateClasses,
    ExtendBeyondMaximum,
    LaunchActive,
    LaunchInactive,
    ListAllInstances,
    ListAllVolumes,
    ManageWorkshops,
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

/// A permission in a class as a type.
pub(crate) trait ClassPermission: Send + Sync {
    const ACTION: ClassAction;
}

macro_rules! class_permissions {
    ($($name:ident: $action:ident),*) => {
        $(
            #[doc = concat!("Permission for [`ClassAction::", stringify!($action), "`].")]
            #[derive(Debug, Clone)]
            pub(crate) enum $name {}

            impl ClassPermission for $name {
                const ACTION: ClassAction = ClassAction::$action;
            }
        )*
    };
}

class_permissions!(
    ReadClass: Read,
    LaunchInClass: Launch,
    WatchClass: Watch,
    RaiseHand: RaiseHand,
    AnswerHands: AnswerHands,
    SendMessage: SendMessage,
    ExtendInClass: Extend,
    EndInClass: End,
    LaunchForMembers: LaunchForMembers,
    ManageClassTemplates: ManageTemplates,
    ManageMembers: ManageMembers,
    EditClass: Edit
);

/// A request whose caller has a permission in the class that the path names. Only its extraction creates it.
#[derive(Debug, Clone)]
pub(crate) struct InClass<P, R = Call> {
    request: R,
    pub(crate) access: ClassAccess,
    permission: PhantomData<P>,
}

impl<P, R> Deref for InClass<P, R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.request
    }
}

impl<P: ClassPermission, R> FromRequestParts<AppState> for InClass<P, R>
where
    R: FromRequestParts<AppState, Rejection = Problem> + Borrow<Caller> + Send,
{
    type Rejection = Problem;

    /// Returns 404 if the class does not exist or is hidden from the caller, 403 if the caller's role does not permit the
    /// action.
    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let request = R::from_request_parts(parts, state).await?;
        let slug = path_part(parts, state, "class").await.ok_or_else(Problem::not_found)?;
        let access = state.launcher.class(request.borrow(), &slug).await?;
        match access.decide(P::ACTION) {
            Verdict::Granted => Ok(Self { request, access, permission: PhantomData }),
            Verdict::Hidden => Err(Problem::not_found()),
            Verdict::Forbidden => Err(ServiceError::ClassRole.into()),
        }
    }
}
