//! Checks of the edge proxy: requests to the public address without a login, and with a forged identity.

mod workshops;

use launcher_domain::identity::TrustedHeader;

use super::facts::EdgeProxyFacts;
use super::report::Finding;
use super::section::Section;
use super::web::{Answer, WebClient, WebFault};
use crate::settings::ServeSettings;

pub(super) use workshops::check_workshops;

const CHECK: &str = "edge proxy";
const IDENTITY: &str = "identity header";
const LOGIN: &str = "login";
/// Identity to forge if no admin is configured. The domain is reserved (RFC 2606), so the address belongs to no person.
const FORGED_IDENTITY: &str = "doctor@launcher.invalid";
const GUIDE: &str = "docs/front.md lists the requirements";

/// Skips all checks without a public address, or while the development bypass is active.
pub(super) async fn check(settings: ServeSettings) -> Section<EdgeProxyFacts> {
    let mut section = Section::default();
    let Some(public_url) = settings.api.public_url.as_deref().filter(|_| settings.api.bypass().is_none()) else {
        return section;
    };
    let web = match WebClient::new() {
        Ok(web) => web,
        Err(error) => {
            let words = format!(
                "not checked: this machine has no CA certificates ({error}). Install them, or set SSL_CERT_FILE"
            );
            section.add([Finding::warn(CHECK, words)]);
            return section;
        }
    };
    let me = format!("{public_url}{}/me", settings.api.base_path);
    let answer = web.get(&me, &[]).await;
    section.add([assess_unauthenticated(&me, &answer)]);
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
        Err(fault @ WebFault::Certificate(_)) => Finding::fail(
            CHECK,
            format!("{me}: {fault}. Browsers refuse it: renew the certificate, or correct its names"),
        ),
        Err(fault) => Finding::warn(
            CHECK,
            format!(
                "{me} cannot be reached from here: {fault}. Try it from outside: curl -i {me} must answer 401 or 302"
            ),
        ),
        Ok(answer) => match answer.person() {
            Some(person) => Finding::fail(
                CHECK,
                format!(
                    "ACCESS WITHOUT LOGIN: {me} treats an unauthenticated request as {person}. Put an auth proxy in \
                     front; {GUIDE}"
                ),
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
            Finding::warn(CHECK, format!("{me} redirects to {location}: write SERVICE_PUBLIC_URL with https://"))
        }
        _ if answer.status.is_redirection() || matches!(status, 401 | 403) => {
            Finding::ok(CHECK, format!("{me} requires a login ({status})"))
        }
        _ if status == 421 => Finding::fail(
            CHECK,
            format!(
                "{me} answers 421: the edge proxy changes the Host header. Forward it unchanged, with the host of \
                 SERVICE_PUBLIC_URL"
            ),
        ),
        _ if answer.status.is_success() => Finding::fail(
            CHECK,
            format!(
                "{me} answers {status}, but another service does. Correct SERVICE_PUBLIC_URL, or the edge proxy's \
                 routes"
            ),
        ),
        _ => Finding::fail(
            CHECK,
            format!(
                "{me} answers {status} instead of requiring a login. Check that the launcher runs, and the edge \
                 proxy's routes"
            ),
        ),
    }
}

/// Sends an admin's identity without a login. Tries each header spelling that a proxy may normalize to the real header.
async fn forged(web: &WebClient, settings: &ServeSettings, me: &str) -> Finding {
    let admin = settings.api.admin_emails.first().map_or(FORGED_IDENTITY, |admin| admin.as_str());
    let [plain, underscores, dots] = spellings(&settings.api.trusted_auth_header);
    let line = |name: &str| [(name.to_owned(), admin.to_owned())];
    let ask = async |lines: [(String, String); 1]| {
        let [(name, value)] = lines;
        let answer = web.get(me, &[(&name, &value)]).await;
        (name, answer)
    };
    let answers = tokio::join!(ask(line(&plain)), ask(line(&underscores)), ask(line(&dots)));
    let answers = [answers.0, answers.1, answers.2];
    let let_in = answers.iter().find(|(_, answer)| answer.as_ref().is_ok_and(|answer| answer.status.is_success()));
    if let Some((name, _)) = let_in {
        return Finding::fail(
            IDENTITY,
            format!(
                "ANY CLIENT CAN BE AN ADMIN: the edge proxy does not remove the header {name}. Stop the service until \
                 it does; {GUIDE}"
            ),
        );
    }
    let unclear = answers.iter().find(|(_, answer)| !answer.as_ref().is_ok_and(Answer::is_refusal));
    match unclear {
        None => Finding::ok(IDENTITY, format!("forged headers are refused: {plain}, {underscores}, {dots}")),
        Some((name, answer)) => {
            let said = match answer {
                Ok(answer) => format!("the response was {}", answer.status.as_u16()),
                Err(fault) => fault.to_string(),
            };
            Finding::warn(IDENTITY, format!("no clear result for a forged {name}: {said}. Run the doctor again"))
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
            Finding::ok(LOGIN, format!("{url} answers ({})", answer.status.as_u16()))
        }
        Ok(answer) => Finding::fail(
            LOGIN,
            format!(
                "no user can log in: {url} answers {}. Check the login proxy, the edge proxy's route to it, and \
                 SERVICE_LOGIN_URL",
                answer.status.as_u16()
            ),
        ),
        Err(fault) => Finding::warn(LOGIN, format!("{url} cannot be reached from here: {fault}. Try it in a browser")),
    }
}
