//! The context: dependencies and in-memory state that all reconciles share.

use std::sync::Arc;
use std::time::Duration;

use kube::api::{ApiResource, DynamicObject};
use kube::runtime::events::Reporter;
use kube::{Api, Client};
use launcher_domain::Clock;
use launcher_workshop::Workshop;

use crate::cache::Object;
use crate::children::Children;
use crate::lease::{Fence, NotLeading};
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;

/// Dependencies and in-memory state that all reconciles share. A new leadership begins with a new context.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) settings: Arc<OperatorSettings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) reporter: Reporter,
    pub(crate) fence: Fence,
    pub(crate) children: Children,
    pub(crate) memory: Arc<Memory>,
}

impl Context {
    /// Returns the API of the objects of one kind, in the namespace of the Workshops.
    pub(crate) fn api<K: Object>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    /// Returns the API of the objects of one kind, in the namespace of the Workshops, without their types.
    pub(crate) fn untyped(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.settings.namespace, resource)
    }

    /// Returns the API of Workshops that may be unreadable.
    pub(crate) fn untyped_workshops(&self) -> Api<DynamicObject> {
        self.untyped(&ApiResource::erase::<Workshop>(&()))
    }
}

/// Timeout of one reconcile, which is then retried. Without this timeout, the Kubernetes client retries for minutes.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to {0}: {1}")]
    Failed(String, kube::Error),
    #[error("the API server did not answer within {} seconds", DEADLINE.as_secs())]
    Slow,
}

impl RequestError {
    /// Adds the purpose of the request: a verb with its object.
    pub(crate) fn to(purpose: &str) -> impl Fn(kube::Error) -> Self {
        move |error| Self::Failed(purpose.to_owned(), error)
    }

    /// True if the object has changed since it was read.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Failed(_, kube::Error::Api(status)) if status.code == 409)
    }
}
