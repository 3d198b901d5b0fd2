//! Checks of the settings. The program has already parsed the settings before any check runs.

use http::Uri;
use launcher_process::settings::unknown_names;
use tracing_subscriber::filter::Targets;

use super::report::{Finding, fail, ok, warning};
use crate::cli::Cli;
use crate::doctor::report::Section;
use crate::serve::{read_proxy_secret, readable_by_others, refuse_exposed_bypass, seeds};
use crate::settings::ServeSettings;

pub(super) async fn check(settings: ServeSettings) -> Section<()> {
    let findings = [
        Some(names()),
        Some(authentication(&settings)),
        proxy_secret(&settings).await,
        Some(admins(&settings)),
        log(&settings),
        public_url(&settings),
    ];
    Section { findings: findings.into_iter().flatten().collect(), facts: () }
}

fn names() -> Finding {
    let unknown = unknown_names::<Cli>(std::env::vars_os());
    if unknown.is_empty() {
        return Finding::ok("settings", "valid; every SERVICE_ variable is known");
    }
    let unknown = unknown.join(", ");
    warning!("settings", "unknown, and ignored: {unknown}. Correct the name; `launcher serve --help` lists all")
}

fn authentication(settings: &ServeSettings) -> Finding {
    const CHECK: &str = "authentication";
    if let Err(error) = refuse_exposed_bypass(settings) {
        return fail!(CHECK, "the service does not start: {error}");
    }
    match (settings.api.require_authentication, &settings.api.dev_identity) {
        (true, None) => ok!(CHECK, "required, by the header {}", settings.api.trusted_auth_header.name()),
        (false, Some(email)) => {
            let words = format!(
                "AUTHENTICATION IS OFF: every client of this service is {email}. In production remove \
                 SERVICE_REQUIRE_AUTHENTICATION and SERVICE_DEV_IDENTITY"
            );
            if is_for_this_machine(settings) { Finding::warn(CHECK, words) } else { Finding::fail(CHECK, words) }
        }
        (false, None) => Finding::warn(
            CHECK,
            "SERVICE_REQUIRE_AUTHENTICATION is false, but SERVICE_DEV_IDENTITY is not set: callers without an identity \
             are still refused. Remove SERVICE_REQUIRE_AUTHENTICATION; for development set SERVICE_DEV_IDENTITY",
        ),
        (true, Some(_)) => Finding::warn(
            CHECK,
            "SERVICE_DEV_IDENTITY is set, but SERVICE_REQUIRE_AUTHENTICATION is true: it has no effect. Remove it",
        ),
    }
}

async fn proxy_secret(settings: &ServeSettings) -> Option<Finding> {
    const CHECK: &str = "proxy secret";
    match read_proxy_secret(settings.api.proxy_secret_file.as_deref()).await {
        Err(error) => Some(Finding::fail(CHECK, error)),
        Ok(Some(secret)) => Some(match settings.api.proxy_secret_file.as_deref().and_then(readable_by_others) {
            Some(words) => warning!(CHECK, "{words}"),
            None => ok!(CHECK, "required with each identity; accepted secrets: {}", secret.count()),
        }),
        Ok(None) if settings.api.bypass().is_some() => None,
        Ok(None) => Some(Finding::warn(
            CHECK,
            "SERVICE_PROXY_SECRET_FILE is not set: a program that bypasses the auth proxy can claim any identity. \
             Write `openssl rand -hex 32` into a file, set this to its path, and make the auth proxy send it as \
             X-Auth-Request-Proof; see docs/settings.md",
        )),
    }
}

/// Returns true if only browsers on this machine are meant to reach the service.
pub(super) fn is_for_this_machine(settings: &ServeSettings) -> bool {
    let url = settings.api.public_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
    let host = url.as_ref().and_then(Uri::host).unwrap_or("localhost");
    host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]"
}

fn admins(settings: &ServeSettings) -> Finding {
    const CHECK: &str = "admins";
    match settings.api.admin_emails.len() {
        0 => Finding::warn(CHECK, "no user can manage templates: set SERVICE_ADMIN_EMAILS to the address of a user"),
        count => Finding::ok(CHECK, count.to_string()),
    }
}

fn log(settings: &ServeSettings) -> Option<Finding> {
    let error = settings.log.log.parse::<Targets>().err()?;
    Some(fail!("log", "SERVICE_LOG is invalid: {error}. Write a level, as in info"))
}

fn public_url(settings: &ServeSettings) -> Option<Finding> {
    let error = settings.api.public_url.as_ref()?.parse::<Uri>().err()?;
    let words = format!("SERVICE_PUBLIC_URL is not a URL: {error}. Write it as in https://launcher.example.org");
    Some(Finding::fail("public URL", words))
}

/// Checks the seed file. This is a separate section, because the file may be on a volume that hangs.
pub(super) async fn check_seeds(settings: ServeSettings) -> Section<()> {
    Section { findings: seed_file(&settings).into_iter().collect(), facts: () }
}

fn seed_file(settings: &ServeSettings) -> Option<Finding> {
    const CHECK: &str = "seed templates";
    Some(match seeds::check(settings.seed_templates.as_ref()?, &settings.database.pod_template_allow) {
        Ok(count) => Finding::ok(CHECK, count.to_string()),
        Err(error) => {
            fail!(CHECK, "SERVICE_SEED_TEMPLATES: {error}. The service does not start until this is corrected")
        }
    })
}
