//! Checks the workshops' domain: every name below it leads to the edge proxy, and an unused name has no workshop.

use http::Uri;
use launcher_domain::Entropy;
use launcher_domain::clock::SystemEntropy;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::Facts;
use crate::doctor::report::Finding;
use crate::doctor::web::{WebClient, WebFault};
use crate::doctor::{QUERY_TIMEOUT, Section};
use crate::settings::{FleetKind, ServeSettings};

const CHECK: &str = "workshop domain";

/// Address below the workshops' domain, with a random name that no workshop has: the doctor requests it.
struct Address {
    scheme: String,
    host: String,
    /// As in `:8443`; empty for the scheme's default port.
    port: String,
}

/// `url` is the URL of one of the fleet's workshops. On Kubernetes it gives the domain, a setting of the operator.
pub(in crate::doctor) async fn check_workshops(
    settings: ServeSettings,
    edge_proxy: Facts,
    url: Option<String>,
) -> Section<()> {
    let address = if edge_proxy.answers { address(&settings, url.as_deref()) } else { None };
    let mut section = Section::default();
    if let (Some(address), Ok(web)) = (address, WebClient::new()) {
        section.add([assess(&address, &web).await]);
    }
    section
}

fn address(settings: &ServeSettings, url: Option<&str>) -> Option<Address> {
    let (uri, domain): (Uri, String) = match url.filter(|_| settings.fleet == FleetKind::Kubernetes) {
        Some(url) => {
            let uri: Uri = url.parse().ok()?;
            let domain = uri.host()?.split_once('.')?.1.to_owned();
            (uri, domain)
        }
        None => (settings.public_url.as_ref()?.parse().ok()?, settings.workshop_domain.clone()),
    };
    // Browsers resolve names below localhost themselves.
    if domain == "localhost" {
        return None;
    }
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(Address { scheme: uri.scheme_str()?.to_owned(), host: format!("doctor-{}.{domain}", random()), port })
}

fn random() -> String {
    let mut bytes = [0; 6];
    SystemEntropy.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn has_address(host: &str) -> bool {
    match timeout(QUERY_TIMEOUT, lookup_host((host, 80))).await {
        Ok(Ok(mut found)) => found.next().is_some(),
        Ok(Err(_)) | Err(_) => false,
    }
}

async fn assess(address: &Address, web: &WebClient) -> Finding {
    let Address { scheme, host, port } = address;
    let domain = host.split_once('.').map_or("", |(_, domain)| domain);
    if !has_address(host).await {
        return Finding::fail(
            CHECK,
            format!(
                "{host} has no address: workshops cannot be opened. Make a DNS record *.{domain} that leads to the front"
            ),
        );
    }
    let url = format!("{scheme}://{host}{port}/");
    match web.get(&url, &[]).await {
        Ok(answer) if answer.status.is_success() => Finding::warn(
            CHECK,
            format!(
                "{url} answers {} although there is no such workshop: something else has the names below {domain}. Lead \
                 them to the front alone",
                answer.status.as_u16()
            ),
        ),
        Ok(answer) => {
            Finding::ok(CHECK, format!("names below {domain} lead to the front ({})", answer.status.as_u16()))
        }
        Err(fault @ WebFault::Certificate(_)) => Finding::fail(
            CHECK,
            format!("{url}: {fault}. Workshops cannot be opened: renew the certificate, with the name *.{domain}"),
        ),
        Err(fault) => {
            Finding::warn(CHECK, format!("{url} cannot be asked from here: {fault}. Open a workshop in a browser"))
        }
    }
}
