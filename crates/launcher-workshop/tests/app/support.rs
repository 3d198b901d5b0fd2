//! Test support: templates.

use std::collections::BTreeMap;

use launcher_domain::AppType;
use launcher_workshop::app::AppSpec;

/// The fields of a template that determine how its app starts.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) app_type: AppType,
    pub(crate) image: &'static str,
    pub(crate) command: Vec<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
}

pub(crate) fn template(app_type: AppType, image: &'static str) -> Template {
    Template { app_type, image, command: Vec::new(), args: Vec::new(), env: BTreeMap::new() }
}

impl Template {
    pub(crate) fn command(self, command: &[&str]) -> Self {
        Self { command: words(command), ..self }
    }

    pub(crate) fn args(self, args: &[&str]) -> Self {
        Self { args: words(args), ..self }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns the app of this template with this port.
    pub(crate) fn on(&self, port: u16) -> AppSpec<'_> {
        let Self { app_type, image, command, args, env } = self;
        AppSpec { app_type: *app_type, image, port, command, args, env }
    }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
