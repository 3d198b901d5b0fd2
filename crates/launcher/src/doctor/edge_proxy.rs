//! Checks that send requests: to the edge proxy without a login and with a forged identity, to the launcher past the edge
//! proxy, and to the domain of the workshops.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::Uri;
use launcher_domain::clock::{SystemEntropy, random_hex};
use launcher_domain::identity::TrustedHeader;
use launcher_fleet::doctor::ExampleWorkshop;
use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::doctor::report::{EdgeProxyFacts, Finding, QUERY_TIMEOUT, Section, fail, ok, warning};
use crate::doctor::web::{Answer, WebClient, WebFault};
use crate::settings::{FleetKind, ServeSettings};

const CHECK: &str = "edge proxy";
const IDENTITY: &str = "identity header";
const LOGIN: &str = "login";
const DOMAIN: &str = "workshop domain";
const PROOF: &str = "identity proof";
/// Identity to forge if no admin is configured. The domain is reserved (RFC 2606), so the address belongs to no person.
const FORGED_IDENTITY: &str = "doctor@launcher.invalid";
const GUIDE: &str = "docs/front.md lists the requirements";

/// Skips all checks without a public address, or while the development bypass is active.
pub(super) async fn check(settings: ServeSettings) -> Section<EdgeProxyFacts> {
    let Some(public_url) = settings.api.public_url.as_deref().filter(|_| settings.api.bypass().is_none()) else {
        return Section::default();
    };
    let web = match WebClient::new() {
        Ok(web) => web,
        Err(error) => {
            let words = format!(
                "not checked: this machine has no CA certificates ({error}). Install them, or set SSL_CERT_FILE"
            );
            return Finding::warn(CHECK, words).into();
        }
    };
    let me = format!("{public_url}{}/me", settings.api.base_path);
    let answer = web.get(&me, &[]).await;
    let mut section = Section::<EdgeProxyFacts>::from(assess_unauthenticated(&me, &answer));
    // Skip the other checks if the public address does not answer, or another service answers there: their results
    // would mean nothing.
    if !answer.is_ok_and(|answer| !answer.status.is_success() || answer.person().is_some()) {
        return section;
    }
    section.facts.answers = true;
    let (forged, login) = tokio::join!(forged(&web, &settings, &me), login(&web, public_url, &settings.api.login_url));
    section.add([forged, login]);
    section
}

fn assess_unauthenticated(me: &str, answer: &Result<Answer, WebFault>) -> Finding {
    match answer {
        Err(fault @ WebFault::Certificate(_)) => {
            fail!(CHECK, "{me}: {fault}. Browsers refuse it: renew the certificate, or correct its names")
        }
        Err(fault) => warning!(
            CHECK,
            "{me} cannot be reached from here: {fault}. Try it from outside: curl -i {me} must answer 401 or 302"
        ),
        Ok(answer) => match answer.person() {
            Some(person) => fail!(
                CHECK,
                "ACCESS WITHOUT LOGIN: {me} treats an unauthenticated request as {person}. Put an auth proxy in \
                 front; {GUIDE}"
            ),
            None => assess_answer(me, answer),
        },
    }
}

fn assess_answer(me: &str, answer: &Answer) -> Finding {
    let status = answer.status.as_u16();
    let over_tls = me.replacen("http://", "https://", 1);
    match &answer.location {
        Some(location) if me.starts_with("http://") && *location == over_tls => {
            warning!(CHECK, "{me} redirects to {location}: write SERVICE_PUBLIC_URL with https://")
        }
        _ if answer.status.is_redirection() || matches!(status, 401 | 403) => {
            ok!(CHECK, "{me} requires a login ({status})")
        }
        _ if status == 421 => fail!(
            CHECK,
            "{me} answers 421: the edge proxy changes the Host header. Forward it unchanged, with the host of \
             SERVICE_PUBLIC_URL"
        ),
        _ if answer.status.is_success() => fail!(
            CHECK,
            "{me} answers {status}, but another service does. Correct SERVICE_PUBLIC_URL, or the edge proxy's \
             routes"
        ),
        _ => fail!(
            CHECK,
            "{me} answers {status} instead of requiring a login. Check that the launcher runs, and the edge \
             proxy's routes"
        ),
    }
}

/// Sends an admin's identity without a login. Tries each header spelling that a proxy may normalize to the real header.
async fn forged(web: &WebClient, settings: &ServeSettings, me: &str) -> Finding {
    let admin = settings.api.admin_emails.first().map_or(FORGED_IDENTITY, |admin| admin.as_str());
    let [plain, underscores, dots] = &spellings(&settings.api.trusted_auth_header);
    let ask = async |name: &String| web.get(me, &[(name.as_str(), admin)]).await;
    let answers = tokio::join!(ask(plain), ask(underscores), ask(dots));
    let answers = [(plain, answers.0), (underscores, answers.1), (dots, answers.2)];
    let let_in = answers.iter().find(|(_, answer)| answer.as_ref().is_ok_and(|answer| answer.status.is_success()));
    if let Some((name, _)) = let_in {
        return fail!(
            IDENTITY,
            "ANY CLIENT CAN BE AN ADMIN: the edge proxy does not remove the header {name}. Stop the service until \
             it does; {GUIDE}"
        );
    }
    let unclear = answers.iter().find(|(_, answer)| !answer.as_ref().is_ok_and(Answer::is_refusal));
    match unclear {
        None => ok!(IDENTITY, "forged headers are refused: {plain}, {underscores}, {dots}"),
        Some((name, answer)) => {
            let said = match answer {
                Ok(answer) => format!("the response was {}", answer.status.as_u16()),
                Err(fault) => fault.to_string(),
            };
            warning!(IDENTITY, "no clear result for a forged {name}: {said}. Run the doctor again")
        }
    }
}

/// Returns the header spellings to forge: `x-auth-request-email`, `X_Auth_Request_Email`, `x.auth.request.email`.
fn spellings(header: &TrustedHeader) -> [String; 3] {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    let underscores = header.name().split('-').map(capital).collect::<Vec<_>>().join("_");
    [header.name().to_owned(), underscores, header.name().replace('-', ".")]
}

async fn login(web: &WebClient, public_url: &str, login_url: &str) -> Finding {
    let url = if login_url.starts_with('/') { format!("{public_url}{login_url}") } else { login_url.to_owned() };
    match web.get(&url, &[("Accept", "text/html")]).await {
        Ok(answer) if answer.status.is_success() || answer.status.is_redirection() => {
            ok!(LOGIN, "{url} answers ({})", answer.status.as_u16())
        }
        Ok(answer) => fail!(
            LOGIN,
            "no user can log in: {url} answers {}. Check the login proxy, the edge proxy's route to it, and \
             SERVICE_LOGIN_URL",
            answer.status.as_u16()
        ),
        Err(fault) => warning!(LOGIN, "{url} cannot be reached from here: {fault}. Try it in a browser"),
    }
}

/// Sends a request with a forged identity directly to the launcher, past the auth proxy. The launcher must refuse the request,
/// because the proxy secret is missing. Skips the check if no proxy secret is configured, because the check of the settings
/// already warns about that.
pub(super) async fn check_identity_proof(settings: ServeSettings) -> Section<()> {
    if settings.api.proxy_secret_file.is_none() || settings.api.bypass().is_some() || settings.listen_addr.port() == 0 {
        return Section::default();
    }
    let Ok(web) = WebClient::new() else { return Section::default() };
    let me = format!("http://{}{}/me", reachable(settings.listen_addr), settings.api.base_path);
    let admin = settings.api.admin_emails.first().map_or(FORGED_IDENTITY, |admin| admin.as_str());
    let answer = web.get(&me, &[(settings.api.trusted_auth_header.name(), admin)]).await;
    assess_forged(&me, &answer).into()
}

/// Returns the listen address. Replaces an unspecified IP address (`0.0.0.0` or `::`) with loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() { SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port()) } else { listen }
}

fn assess_forged(me: &str, answer: &Result<Answer, WebFault>) -> Finding {
    match answer {
        Ok(answer) if answer.status.as_u16() == 401 => {
            ok!(PROOF, "{me} refuses a forged identity without X-Auth-Request-Proof (401)")
        }
        Ok(answer) if answer.status.is_success() => fail!(
            PROOF,
            "{me} ACCEPTS A FORGED IDENTITY without X-Auth-Request-Proof: the running launcher has no proxy \
             secret. Restart it with SERVICE_PROXY_SECRET_FILE"
        ),
        Ok(answer) => warning!(
            PROOF,
            "{me} answers {} to a forged identity, not 401. Check that SERVICE_LISTEN_ADDR is the launcher's",
            answer.status.as_u16()
        ),
        Err(fault) => warning!(
            PROOF,
            "{me} cannot be reached from here: {fault}. Run the doctor on the launcher's machine, while the \
             launcher runs"
        ),
    }
}

/// Checks the domain of the workshops: every name below it must lead to the edge proxy, and a random name must have no
/// workshop. `example` is any workshop; on Kubernetes its URL is the source of the domain.
pub(super) async fn check_workshops(
    settings: ServeSettings,
    edge_proxy: EdgeProxyFacts,
    example: Option<ExampleWorkshop>,
) -> Section<()> {
    let address = if edge_proxy.answers { address(&settings, example.as_ref()) } else { None };
    match (address, WebClient::new()) {
        (Some((host, url)), Ok(web)) => assess_domain(&host, &url, &web).await.into(),
        _ => Section::default(),
    }
}

/// Returns the host and the URL of a random name below the workshops' domain. No workshop has this name.
fn address(settings: &ServeSettings, example: Option<&ExampleWorkshop>) -> Option<(String, String)> {
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
    let host = format!("doctor-{}{after_name}", random_hex::<6>(&SystemEntropy));
    let url = format!("{}://{host}{port}/", uri.scheme_str()?);
    Some((host, url))
}

/// Returns the URL of a workshop, and the part of its host after the workshop's name: the suffix of all names, if there is
/// one, then a dot and the domain.
fn after_name(ExampleWorkshop { name, url }: &ExampleWorkshop) -> Option<(Uri, String)> {
    let uri: Uri = url.parse().ok()?;
    let after_name = uri.host()?.strip_prefix(name.as_str())?.to_owned();
    Some((uri, after_name))
}

async fn has_address(host: &str) -> bool {
    match timeout(QUERY_TIMEOUT, lookup_host((host, 80))).await {
        Ok(Ok(mut found)) => found.next().is_some(),
        Ok(Err(_)) | Err(_) => false,
    }
}

async fn assess_domain(host: &str, url: &str, web: &WebClient) -> Finding {
    let domain = host.split_once('.').map_or("", |(_, domain)| domain);
    if !has_address(host).await {
        return fail!(
            DOMAIN,
            "{host} has no address: users cannot open workshops. Create a DNS record *.{domain} for the edge proxy"
        );
    }
    match web.get(url, &[]).await {
        Ok(answer) if answer.status.is_success() => warning!(
            DOMAIN,
            "{url} answers {} although this workshop does not exist: another service has names below {domain}. \
             Point all of them to the edge proxy",
            answer.status.as_u16()
        ),
        Ok(answer) => ok!(DOMAIN, "names below {domain} lead to the edge proxy ({})", answer.status.as_u16()),
        Err(fault @ WebFault::Certificate(_)) => fail!(
            DOMAIN,
            "{url}: {fault}. Users cannot open workshops: renew the certificate, with the name *.{domain}"
        ),
        Err(fault) => warning!(DOMAIN, "{url} cannot be reached from here: {fault}. Open a workshop in a browser"),
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
