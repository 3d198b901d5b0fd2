//! Relays WebSockets after their upgrade.

mod frames;
pub(crate) mod tunnel;
