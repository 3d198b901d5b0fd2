//! Access control: the access policy, and its checks of one request.

pub(crate) mod authorization;
pub(crate) mod cookies;
pub(crate) mod origin;
pub(crate) mod owner;
pub(crate) mod policy;
pub(crate) mod rules;
pub mod secret_file;
