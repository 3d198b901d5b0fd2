//! Evidence that the pod's network is up: an answer of a DNS server, which the policies allow.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Pause between two queries: a packet that a new pod sends too early is lost.
const RETRY: Duration = Duration::from_millis(50);
/// DNS port, unless the file names one, which real files do not.
const PORT: u16 = 53;

/// Detects whether the network is up. Dropping it ends the queries.
#[derive(Debug)]
pub(super) struct NetworkUp {
    is_up: Arc<AtomicBool>,
    _queries: JoinSet<()>,
}

impl NetworkUp {
    /// Queries each name server of a resolv.conf until one answers. Sends no query if the file is unreadable.
    pub(super) fn watch(resolv_conf: &Path) -> Self {
        let text = std::fs::read_to_string(resolv_conf).unwrap_or_default();
        let (is_up, mut queries) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        let query = query(search_domain(&text));
        for server in servers(&text) {
            let (is_up, query) = (is_up.clone(), query.clone());
            queries.spawn(async move {
                while !is_up.load(Ordering::Relaxed) {
                    if answers(server, &query).await {
                        is_up.store(true, Ordering::Relaxed);
                    } else {
                        sleep(RETRY).await;
                    }
                }
            });
        }
        Self { is_up, _queries: queries }
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Records other evidence that the network is up.
    pub(super) fn set_up(&self) {
        self.is_up.store(true, Ordering::Relaxed);
    }
}

/// Returns the servers of `nameserver` lines. A port may follow the address, as in `127.0.0.1:5353`.
fn servers(text: &str) -> Vec<SocketAddr> {
    let addresses = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver")).map(str::trim);
    let server = |text: &str| {
        let with_port = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, PORT));
        with_port.or_else(|_| text.parse()).ok()
    };
    addresses.filter_map(server).collect()
}

/// Returns the first domain of the `search` line: the cluster's DNS answers for it without another server.
fn search_domain(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("search"));
    line.and_then(|domains| domains.split_whitespace().next()).unwrap_or_default()
}

/// Builds a query for the A record of a name (RFC 1035, 4.1). Omits labels that are too long: any answer is sufficient.
fn query(name: &str) -> Vec<u8> {
    const HEAD: [u8; 12] = [0x57, 0x4c, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    const TYPE_A_CLASS_IN: [u8; 4] = [0, 1, 0, 1];
    let mut query = HEAD.to_vec();
    for label in name.split('.').filter(|label| (1..=63).contains(&label.len())).take(8) {
        query.push(u8::try_from(label.len()).unwrap_or_default());
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&TYPE_A_CLASS_IN);
    query
}

async fn answers(server: SocketAddr, query: &[u8]) -> bool {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let asked = async {
        let socket = UdpSocket::bind((any, 0)).await?;
        // From here on, the socket receives only the server's datagrams.
        socket.connect(server).await?;
        socket.send(query).await?;
        socket.recv(&mut [0; 512]).await
    };
    matches!(timeout(Duration::from_millis(500), asked).await, Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_and_search_domain_are_read() {
        let text = "# a comment\nsearch workshops.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n\
                    nameserver fd00::a\nnameserver 127.0.0.1:5353\nnameserver wrong\noptions ndots:5\n";
        let expected = ["10.96.0.10:53", "[fd00::a]:53", "127.0.0.1:5353"].map(|text| text.parse().unwrap());
        assert_eq!(servers(text), expected);
        assert_eq!(search_domain(text), "workshops.svc.cluster.local");
        assert_eq!(search_domain("nameserver 10.96.0.10\n"), "");
    }

    #[test]
    fn query_has_one_question() {
        let query = query("a.example");
        assert_eq!(query[12..], *b"\x01a\x07example\x00\x00\x01\x00\x01");
        assert_eq!(query[4..6], [0, 1]);
    }
}
