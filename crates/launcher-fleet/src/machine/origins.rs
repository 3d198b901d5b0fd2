//! The origins of launcher and workshops, and the rules for the owner's access.

use http::uri::Authority;
use launcher_domain::Report;
use launcher_domain::brand::Brand;
use launcher_domain::frame_path::frame_url;
use launcher_domain::identity::{ProxySecret, TrustedHeader};
use launcher_sidecar::frame::WorkshopPage;

/// The origins of launcher and workshops, and the rules for the owner's access.
#[derive(Debug, Clone)]
pub struct OriginSettings {
    /// The launcher's public origin, for example `http://localhost:8000`. Workshops have the same scheme and port.
    pub public_origin: http::Uri,
    /// Parent domain of the workshops' hosts, which are `{k8s_name}.{workshop_domain}`. With `localhost` no DNS is
    /// needed: browsers resolve every name below it to this machine.
    pub workshop_domain: String,
    /// The header with the caller's e-mail address.
    pub trusted_header: TrustedHeader,
    /// The proxy secret. If set, an identity without it counts as forged.
    pub proxy_secret: Option<ProxySecret>,
    /// True if only the owner of a workshop has access to it. False gives access to every request.
    pub require_authentication: bool,
    /// Name prefix of the auth proxy's cookies. The sidecar removes these cookies from requests to apps.
    pub session_cookie_prefix: String,
    /// The brand that bars and notices show.
    pub brand: Brand,
}

impl OriginSettings {
    pub(crate) fn url(&self, name: &str) -> String {
        format!("{}://{}/", self.public_origin.scheme_str().unwrap_or("http"), self.host(name))
    }

    /// Returns the report of a ready workshop with this name: its URL, and that of its frame page.
    pub(crate) fn urls(&self, name: &str) -> Report {
        let url = self.url(name);
        Report { frame_url: Some(frame_url(&url)), url: Some(url), ..Report::default() }
    }

    pub(crate) fn launcher_url(&self) -> String {
        let scheme = self.public_origin.scheme_str().unwrap_or("http");
        format!("{scheme}://{}/", self.public_origin.authority().map_or("localhost", Authority::as_str))
    }

    pub(crate) fn workshop_page_url(&self, name: &str) -> String {
        format!("{}instances/{name}", self.launcher_url())
    }

    /// Returns the launcher's page of the workshop with this name. `None` if the public origin has an unusual form.
    pub(crate) fn workshop_page(&self, name: &str) -> Option<WorkshopPage> {
        WorkshopPage::parse(&self.workshop_page_url(name)).ok()
    }

    /// Returns the value of the `Host` header in requests to the workshop with this name.
    pub(crate) fn host(&self, name: &str) -> String {
        match self.public_origin.port_u16() {
            Some(port) => format!("{name}.{}:{port}", self.workshop_domain),
            None => format!("{name}.{}", self.workshop_domain),
        }
    }
}
