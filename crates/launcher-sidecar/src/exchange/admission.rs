//! Admission of one request: parses its head, authorizes it, and writes the head for the app.

use std::mem::MaybeUninit;
use std::net::IpAddr;

use crate::auth::authorization::{Admitted, authorize};
use crate::auth::rules::Rules;
use crate::http1::head::MAX_REQUEST_LINES;
use crate::http1::header::{HeaderKind, HeaderStorage};
use crate::http1::request_head::RequestHead;
use crate::refusal::{Reason, Refused};
use crate::rewrite;

/// Decides whether to admit the request with the head `head`. Appends the head for the app to `out` only if the request
/// is admitted. The new head has `peer` at the end of X-Forwarded-For.
pub(crate) fn admit(rules: &Rules, head: &[u8], peer: Option<IpAddr>, out: &mut Vec<u8>) -> Result<Admitted, Refused> {
    let mut storage: HeaderStorage<'_, MAX_REQUEST_LINES> = [const { MaybeUninit::uninit() }; MAX_REQUEST_LINES];
    let mut kinds = [HeaderKind::Other; MAX_REQUEST_LINES];
    let request = RequestHead::parse(head, &rules.policy.trusted_header, &mut storage, &mut kinds)
        .map_err(|error| Refused::unread(Reason::from(error)))?;
    let authorized = authorize(rules, &request)?;
    rewrite::request::write(rules, &request, &authorized, peer, out);
    Ok(authorized.admitted)
}

#[cfg(test)]
mod tests;
