//! Queries the launcher directly, past the auth proxy. It must refuse a forged identity without the proxy secret.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::Section;
use super::report::Finding;
use super::web::{Answer, WebClient, WebFault};
use crate::settings::ServeSettings;

const CHECK: &str = "identity proof";
/// Forged person if there are no admins. The name is reserved (RFC 2606): it belongs to no person.
const FORGED_IDENTITY: &str = "doctor@launcher.invalid";

/// Skipped without a proxy secret, because the check of the settings warns already.
pub(super) async fn check(settings: ServeSettings) -> Section<()> {
    let mut section = Section::default();
    if settings.proxy_secret_file.is_none() || settings.bypass().is_some() || settings.listen_addr.port() == 0 {
        return section;
    }
    let Ok(web) = WebClient::new() else { return section };
    let me = format!("http://{}{}/me", reachable(settings.listen_addr), settings.base_path);
    let admin = settings.admin_emails.first().map_or(FORGED_IDENTITY, |admin| admin.as_str());
    let answer = web.get(&me, &[(settings.trusted_auth_header.name(), admin)]).await;
    section.add([assess(&me, &answer)]);
    section
}

/// Returns the listen address, with loopback in place of an unspecified IP.
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
                "{me} BELIEVES A FORGED IDENTITY without X-Auth-Request-Proof. The running launcher has no proxy secret: \
                 restart it with SERVICE_PROXY_SECRET_FILE"
            ),
        ),
        Ok(answer) => Finding::warn(
            CHECK,
            format!(
                "{me} answers {} to a forged identity, where 401 is expected. Is it the launcher?",
                answer.status.as_u16()
            ),
        ),
        Err(fault) => Finding::warn(
            CHECK,
            format!("{me} cannot be asked from here: {fault}. Run the doctor where the launcher runs, while it runs"),
        ),
    }
}
