//! The addresses on which an app listens, compared with the one that the workshop expects.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coded_text::TextKey;
use crate::failure::{FailureDetail, FailureRemedy};

/// Time after the start of an app before fleets look for its listening sockets. Most apps listen earlier.
pub const LISTEN_GRACE: Duration = Duration::from_secs(20);
/// Minimum time between two such looks at one app.
pub const LISTEN_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of addresses in a report.
const MAX_ADDRESSES: usize = 4;

/// Start of the sentence that a sidecar logs: see [`ListensElsewhere::in_log`].
const SENTENCE: &str = "the app listens on ";
/// Text between the addresses and the port in this sentence.
const EXPECTED: &str = ", expected 127.0.0.1:";

/// Addresses on which an app listens, while it does not listen on the port of its workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListensElsewhere {
    /// Addresses in ascending order, as in `127.0.0.1:8000` or `[::1]:8000`. Not empty.
    #[schemars(with = "Vec<String>")]
    pub addresses: Vec<SocketAddr>,
    /// Port on 127.0.0.1 on which the app must listen.
    pub port: u16,
}

impl ListensElsewhere {
    /// Compares the addresses of listening sockets with this port of 127.0.0.1. `None` if there are no sockets, or if one of
    /// them accepts connections to the port. A socket on all addresses does so, one on `::1` does not.
    #[must_use]
    pub fn new(sockets: impl IntoIterator<Item = SocketAddr>, port: u16) -> Option<Self> {
        let mut addresses: Vec<SocketAddr> = sockets.into_iter().collect();
        let is_expected = |ip: IpAddr| ip.is_unspecified() || ip == Ipv4Addr::LOCALHOST;
        if addresses.iter().any(|socket| socket.port() == port && is_expected(socket.ip().to_canonical())) {
            return None;
        }
        // An address with the expected port explains most.
        addresses.sort_by_key(|socket| (socket.port() != port, *socket));
        addresses.dedup();
        addresses.truncate(MAX_ADDRESSES);
        (!addresses.is_empty()).then_some(Self { addresses, port })
    }

    /// Returns the report without the addresses of this port, on which another program than the app listens. `None` if no
    /// address is left.
    #[must_use]
    pub fn without_port(self, port: u16) -> Option<Self> {
        Self::new(self.addresses.into_iter().filter(|socket| socket.port() != port), self.port)
    }

    /// Reads the last such sentence in the log of a sidecar. `None` if there is none, or if it is [`no_longer`].
    #[must_use]
    pub fn in_log(log: &str) -> Option<Self> {
        let (_, sentence) = log.rsplit_once(SENTENCE)?;
        let (addresses, rest) = sentence.split_once(EXPECTED)?;
        let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        let addresses: Result<Vec<SocketAddr>, _> = addresses.split(", ").map(str::parse).collect();
        Self::new(addresses.ok()?, digits.parse().ok()?)
    }

    /// Returns the sentence for the owner.
    #[must_use]
    pub fn detail(&self) -> FailureDetail {
        FailureDetail::ListensElsewhere { addresses: self.list(), expected: self.expected().to_string() }
    }

    /// Returns the keys of the texts for the owner, for translators: the addresses, and the advised action.
    #[must_use]
    pub fn text_keys(&self) -> [TextKey; 2] {
        [self.detail().key(), FailureRemedy::ListenOnPort.key()]
    }

    /// Returns the address on which the app must listen.
    #[must_use]
    pub fn expected(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    fn list(&self) -> String {
        self.addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// Writes the sentence that a sidecar logs, for [`ListensElsewhere::in_log`].
impl fmt::Display for ListensElsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SENTENCE}{}{EXPECTED}{}", self.list(), self.port)
    }
}

/// Returns the sentence that a sidecar logs when the app no longer listens elsewhere.
#[must_use]
pub fn no_longer() -> String {
    format!("{SENTENCE}no other address any more")
}
