//! Workshops as the watch returns them: parsed, or unreadable.

use kube::core::DeserializeGuard;
use launcher_workshop::Workshop;

/// A Workshop, or the error of parsing it. One unreadable Workshop must not stop the watch of the other Workshops.
pub(crate) type Guarded = DeserializeGuard<Workshop>;
