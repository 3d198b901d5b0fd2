//! Detects whether the pod's network is up. The network policies allow DNS, so a DNS server answers once the network is
//! up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::resolv_conf::name_servers;

/// Pause before a query is sent again. The network may lose the first packets of a new pod.
const RETRY: Duration = Duration::from_millis(50);

/// Sends DNS queries to detect whether the network is up. Dropping this value ends the queries.
#[derive(Debug)]
pub(crate) struct NetworkUp {
    is_up: Arc<AtomicBool>,
    _queries: JoinSet<()>,
}

impl NetworkUp {
    /// Queries each DNS server of the file `resolv_conf` until one of them answers. Sends no query if the file cannot
    /// be read.
    pub(crate) fn watch(resolv_conf: &Path) -> Self {
        let text = std::fs::read_to_string(resolv_conf).unwrap_or_default();
        let (is_up, mut queries) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        let query = query(search_domain(&text));
        for server in name_servers(&text) {
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

    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Records that the network is up, if the caller has other evidence than DNS.
    pub(crate) fn set_up(&self) {
        self.is_up.store(true, Ordering::Relaxed);
    }
}

/// Returns the first domain of the `search` line, for use as the name in DNS queries. The cluster's DNS server answers
/// queries for this domain itself, without asking another server.
fn search_domain(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("search"));
    line.and_then(|domains| domains.split_whitespace().next()).unwrap_or_default()
}

/// Builds a query for the A record of a name (RFC 1035, 4.1). Omits labels that are too long: the query may then name
/// another domain, but any answer shows that the network is up.
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
        // Connect the socket, so that it receives only datagrams of this server.
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
    fn first_search_domain_is_read() {
        let text = "# a comment\nsearch workshops.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n";
        assert_eq!(search_domain(text), "workshops.svc.cluster.local");
        assert_eq!(search_domain("nameserver 10.96.0.10\n"), "");
    }

    #[test]
    fn dns_query_has_one_question_for_the_name() {
        let query = query("a.example");
        assert_eq!(query[12..], *b"\x01a\x07example\x00\x00\x01\x00\x01");
        assert_eq!(query[4..6], [0, 1]);
    }
}
