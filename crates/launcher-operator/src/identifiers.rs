//! Names that the operator writes into Kubernetes objects.

/// Field manager of all patches by the operator.
pub const FIELD_MANAGER: &str = "workshop-operator";
/// Label on a workshop's pods with the name of their Workshop. The Service and the Deployment select the pods by it.
pub const WORKSHOP_LABEL: &str = "workshoplauncher.dev/workshop";
