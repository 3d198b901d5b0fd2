//! Checks the domain of the workshops: every name below it must lead to the edge proxy, and a random name must have no
//! workshop.

use http::Uri;
use launcher_domain::Entropy;
use launcher_domain::clock::SystemEntropy;
use launcher_fleet::doctor::ExampleWorkshop;
use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::doctor::facts::EdgeProxyFacts;
use crate::doctor::report::Finding;
use crate::doctor::section::{QUERY_TIMEOUT, Section};
use crate::doctor::web::{WebClient, WebFault};
use crate::settings::{FleetKind, ServeSettings};

const CHECK: &str = "workshop domain";

/// Address that the doctor requests: a random name below the workshops' domain. No workshop has this name.
struct Address {
    scheme: String,
    host: String,
    /// Port with its colon, as in `:8443`; empty for the scheme's default port.
    port: String,
}

/// Checks the workshops' domain. `example` is any workshop; on Kubernetes its URL is the source of the domain.
pub(in crate::doctor) async fn check_workshops(
    settings: ServeSettings,
    edge_proxy: EdgeProxyFacts,
    example: Option<ExampleWorkshop>,
) -> Section<()> {
    let address = if edge_proxy.answers { address(&settings, example.as_ref()) } else { None };
    let mut section = Section::default();
    if let (Some(address), Ok(web)) = (address, WebClient::new()) {
        section.add([assess(&address, &web).await]);
    }
    section
}

fn address(settings: &ServeSettings, example: Option<&ExampleWorkshop>) -> Option<Address> {
    // On Kubernetes the form of the hosts is a setting of the operator. The doctor cannot read that setting, but a
    // workshop's URL shows it.
    let example = match settings.fleet {
        FleetKind::Local | FleetKind::Containers => None,
        FleetKind::Kubernetes => example,
    };
    let (uri, after_name): (Uri, String) = match example {
        Some(example) => after_name(example)?,
        None => (settings.api.public_url.as_ref()?.parse().ok()?, format!(".{}", settings.workshop_domain)),
    };
    // Check nothing for localhost: browsers resolve names below it without DNS.
    if after_name.split_once('.')?.1 == "localhost" {
        return None;
    }
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(Address { scheme: uri.scheme_str()?.to_owned(), host: format!("doctor-{}{after_name}", random()), port })
}

/// Returns the URL of a workshop, and the part of its host after the workshop's name: the suffix of all names, if there is
/// one, then a dot and the domain.
fn after_name(ExampleWorkshop { name, url }: &ExampleWorkshop) -> Option<(Uri, String)> {
    let uri: Uri = url.parse().ok()?;
    let after_name = uri.host()?.strip_prefix(name.as_str())?.to_owned();
    Some((uri, after_name))
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
                "{host} has no address: users cannot open workshops. Create a DNS record *.{domain} for the edge proxy"
            ),
        );
    }
    let url = format!("{scheme}://{host}{port}/");
    match web.get(&url, &[]).await {
        Ok(answer) if answer.status.is_success() => Finding::warn(
            CHECK,
            format!(
                "{url} answers {} although this workshop does not exist: another service has names below {domain}. \
                 Point all of them to the edge proxy",
                answer.status.as_u16()
            ),
        ),
        Ok(answer) => {
            Finding::ok(CHECK, format!("names below {domain} lead to the edge proxy ({})", answer.status.as_u16()))
        }
        Err(fault @ WebFault::Certificate(_)) => Finding::fail(
            CHECK,
            format!("{url}: {fault}. Users cannot open workshops: renew the certificate, with the name *.{domain}"),
        ),
        Err(fault) => {
            Finding::warn(CHECK, format!("{url} cannot be reached from here: {fault}. Open a workshop in a browser"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_after_name_has_suffix_and_domain() {
        for (name, url, expected) in [
            ("a-bcdefghijk", "https://a-bcdefghijk.workshops.test/", Some(".workshops.test")),
            ("a-bcdefghijk", "https://a-bcdefghijk-ws.apps.test:8443/", Some("-ws.apps.test")),
            ("x-ws", "https://x-ws-ws.apps.test/", Some("-ws.apps.test")),
            ("other", "https://a-bcdefghijk.workshops.test/", None),
        ] {
            let found = after_name(&ExampleWorkshop { name: name.to_owned(), url: url.to_owned() });
            assert_eq!(found.map(|(_, after_name)| after_name).as_deref(), expected, "{url}");
        }
    }
}
