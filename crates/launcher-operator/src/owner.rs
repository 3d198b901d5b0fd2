//! Owners of objects: the Workshop to which an object belongs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use launcher_workshop::Workshop;

/// Returns the uid of the Workshop that owns the object.
pub(crate) fn workshop_uid(object: &ObjectMeta) -> Option<&str> {
    let kind = Workshop::kind(&());
    let owner = object.owner_references.iter().flatten().find(|owner| owner.kind == kind);
    owner.map(|owner| owner.uid.as_str())
}

/// True if the object with this uid owns the object.
pub(crate) fn is_owned_by(object: &ObjectMeta, uid: &str) -> bool {
    object.owner_references.iter().flatten().any(|owner| owner.uid == uid)
}

/// True if a Workshop with another uid owns the object: an earlier Workshop of the same name.
pub(crate) fn is_of_another_workshop(object: &ObjectMeta, uid: &str) -> bool {
    let kind = Workshop::kind(&());
    object.owner_references.iter().flatten().any(|owner| owner.kind == kind && owner.uid != uid)
}
