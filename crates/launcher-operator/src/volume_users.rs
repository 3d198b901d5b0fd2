//! Remembers for which Workshop the operator creates a pod with a volume, until the Workshop ends. The watch cache does
//! not have the pod yet when the next reconcile runs.

use std::collections::HashMap;
use std::sync::Mutex;

use launcher_domain::sync::lock;

/// Names of the Workshops, by the volumes of their pods.
#[derive(Debug, Default)]
pub(crate) struct VolumeUsers(Mutex<HashMap<String, String>>);

impl VolumeUsers {
    /// Reserves the volume for a Workshop. Returns the name of the Workshop for which it is reserved.
    pub(crate) fn reserve(&self, volume: &str, workshop: &str) -> String {
        lock(&self.0).entry(volume.to_owned()).or_insert_with(|| workshop.to_owned()).clone()
    }

    /// Removes the reservation of a Workshop that has ended.
    pub(crate) fn forget(&self, workshop: &str) {
        lock(&self.0).retain(|_, user| user != workshop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_is_reserved_until_its_workshop_has_ended() {
        let users = VolumeUsers::default();
        assert_eq!(users.reserve("work-a", "one"), "one");
        assert_eq!(users.reserve("work-a", "one"), "one", "the pod is created again");
        assert_eq!(users.reserve("work-a", "other"), "one");
        assert_eq!(users.reserve("work-b", "other"), "other");
        users.forget("one");
        assert_eq!(users.reserve("work-a", "other"), "other");
    }
}
