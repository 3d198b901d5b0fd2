//! The fleets of an installation: one, and on Kubernetes another one for each namespace of classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use launcher_fleet::{Fleet, FleetError};

/// The fleets by their namespaces. Instances and volumes store the namespace of their fleet; `None` is the main one.
#[derive(Debug, Clone)]
pub struct Fleets {
    main: Arc<dyn Fleet>,
    of_classes: BTreeMap<String, Arc<dyn Fleet>>,
    class_namespaces: Vec<String>,
}

impl<F: Fleet> From<Arc<F>> for Fleets {
    fn from(main: Arc<F>) -> Self {
        Self::from(main as Arc<dyn Fleet>)
    }
}

impl From<Arc<dyn Fleet>> for Fleets {
    fn from(main: Arc<dyn Fleet>) -> Self {
        Self { main, of_classes: BTreeMap::new(), class_namespaces: Vec::new() }
    }
}

impl Fleets {
    /// Adds the fleets of the namespaces of classes.
    #[must_use]
    pub fn with_classes(self, of_classes: BTreeMap<String, Arc<dyn Fleet>>) -> Self {
        let class_namespaces = of_classes.keys().cloned().collect();
        Self { of_classes, class_namespaces, ..self }
    }

    pub(crate) fn main(&self) -> &dyn Fleet {
        &*self.main
    }

    /// Returns the fleet of a namespace.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: the settings do not name the namespace any more.
    pub(crate) fn of(&self, namespace: Option<&str>) -> Result<&dyn Fleet, FleetError> {
        let Some(namespace) = namespace else { return Ok(self.main()) };
        let missing =
            || FleetError::Unavailable(format!("SERVICE_CLASS_NAMESPACES does not name the namespace {namespace}"));
        self.of_classes.get(namespace).map(|fleet| &**fleet).ok_or_else(missing)
    }

    /// Returns all fleets with their namespaces, the main one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Option<&str>, &dyn Fleet)> {
        let of_classes = self.of_classes.iter().map(|(namespace, fleet)| (Some(namespace.as_str()), &**fleet));
        std::iter::once((None, self.main())).chain(of_classes)
    }

    /// Returns the namespaces of classes.
    pub(crate) fn class_namespaces(&self) -> &[String] {
        &self.class_namespaces
    }
}
