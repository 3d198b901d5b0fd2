//! Allocates the loopback ports of apps, and finds the program that listens on a port.

mod listener;
mod pool;

pub(super) use listener::{Listener, find_listener, find_listener_in};
pub(super) use pool::{PortLease, PortPool};
