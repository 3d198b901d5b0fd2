//! Sends a request with a forged identity directly to the launcher, past the auth proxy. The launcher must refuse the
//! request, because the proxy secret is missing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::report::Finding;
use super::section::Section;
use super::web::{Answer, WebClient, WebFault};
use crate::settings::ServeSettings;

const CHECK: &str = "identity proof";
/// Identity to forge if no admin is configured. The domain is reserved (RFC 2606), so the address belongs to no person.
const FORGED_IDENTITY: &str = "doctor@launcher.invalid";

/// Skips the check if no proxy secret is configured, because the check of the settings already warns about that.
pub(super) async fn check(settings: ServeSettings) -> Section<()> {
    let mut section = Section::default();
    if settings.api.proxy_secret_file.is_none() || settings.api.bypass().is_some() || settings.listen_addr.port() == 0 {
        return section;
    }
    let Ok(web) = WebClient::new() else { return section };
    let me = format!("http://{}{}/me", reachable(settings.listen_addr), settings.api.base_path);
    let admin = settings.api.admin_emails.first().map_or(FORGED_IDENTITY, |admin| admin.as_str());
    let answer = web.get(&me, &[(settings.api.trusted_auth_header.name(), admin)]).await;
    section.add([assess(&me, &answer)]);
    section
}

/// Returns the listen address. Replaces an unspecified IP address (`0.0.0.0` or `::`) with loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() { SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port()) } else { listen }
}

fn assess(me: &str, answer: &Result<Answer, WebFault>) -> Finding {
    match answer {
        Ok(answer) if answer.status.as_u16() == 401 => {
            Finding::ok(CHECK, format!("{me} refuses a forged identity without X-Auth-Request-Proof (401)"))
        }
        Ok(answer) if answer.status.is_success() => Finding::fail(
            CHECK,
            format!(
                "{me} ACCEPTS A FORGED IDENTITY without X-Auth-Request-Proof: the running launcher has no proxy \
                 secret. Restart it with SERVICE_PROXY_SECRET_FILE"
            ),
        ),
        Ok(answer) => Finding::warn(
            CHECK,
            format!(
                "{me} answers {} to a forged identity, not 401. Check that SERVICE_LISTEN_ADDR is the launcher's",
                answer.status.as_u16()
            ),
        ),
        Err(fault) => Finding::warn(
            CHECK,
            format!(
                "{me} cannot be reached from here: {fault}. Run the doctor on the launcher's machine, while the \
                 launcher runs"
            ),
        ),
    }
}
