//! The context: dependencies and in-memory state that all reconciles share.

use std::sync::Arc;

use kube::core::NamespaceResourceScope;
use kube::runtime::events::Reporter;
use kube::{Api, Client, Resource};
use launcher_domain::Clock;

use crate::children::Children;
use crate::lease::Fence;
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
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }
}
