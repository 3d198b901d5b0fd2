//! Gives up the privileges of this process.

use std::io;
use std::num::NonZeroU32;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// Number of bits in the kernel's sets of capabilities.
const CAPABILITIES: u32 = 64;

/// Continues as this user and the group with the same ID, without capabilities, for good: programs that this process
/// executes cannot gain a capability or another user either.
///
/// Call it while the process has one thread, because the kernel changes only the calling thread.
///
/// # Errors
/// The process lacks CAP_SETUID, CAP_SETGID or CAP_SETPCAP.
pub fn give_up_privileges(user: NonZeroU32) -> io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_no_new_privs(true)?;
    for number in 0..CAPABILITIES {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The kernel has no capability with this number.
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let (user, group) = (Uid::from_raw(user.get()), Gid::from_raw(user.get()));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    clear_ambient_capability_set()?;
    set_capabilities(None, none)?;
    if capabilities(None)? == none { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
