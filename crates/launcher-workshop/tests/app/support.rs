//! Test support: templates.

use launcher_domain::AppType;
use launcher_workshop::WorkshopSpec;
use launcher_workshop::app::AppSpec;
use serde_json::{Value, json};

pub(crate) const ORIGIN: &str = "https://intro.example.org";

/// The spec of a Workshop of a template.
#[derive(Debug)]
pub(crate) struct Template(pub(crate) WorkshopSpec);

pub(crate) fn template(app_type: AppType, image: &str) -> Template {
    let spec = json!({
        "owner": "alice@example.org", "image": image, "appType": app_type, "port": 8888, "lifetimeSeconds": 60,
        "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
        "securityProfile": "restricted",
    });
    Template(serde_json::from_value(spec).unwrap())
}

impl Template {
    /// Sets a field of the spec.
    pub(crate) fn with(self, field: &str, value: impl Into<Value>) -> Self {
        let mut spec = json!(self.0);
        spec[field] = value.into();
        Self(serde_json::from_value(spec).unwrap())
    }

    pub(crate) fn command(self, command: &[&str]) -> Self {
        self.with("command", command)
    }

    pub(crate) fn args(self, args: &[&str]) -> Self {
        self.with("args", args)
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns the app of this template with this port, in a workshop with the origin [`ORIGIN`].
    pub(crate) fn on(&self, port: u16) -> AppSpec<'_> {
        self.at(port, ORIGIN)
    }

    pub(crate) fn at(&self, port: u16, origin: &str) -> AppSpec<'_> {
        AppSpec::of(&self.0, port, origin).unwrap()
    }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
