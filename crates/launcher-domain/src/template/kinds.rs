//! Kinds of apps, icons and security profiles.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

text_enum! {
    /// Kind of app. It determines the default port, and the arguments and variables that adapt a stock image to the
    /// sidecar.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum AppType {
        /// RStudio Server.
        Rstudio = "rstudio",
        /// Jupyter: notebook or lab.
        Notebook = "notebook",
        /// Anything else that speaks HTTP on one port.
        Custom = "custom",
    }
}

impl AppType {
    /// Describes the defaults of a field, by kind of app.
    pub(super) fn defaults<T: Display>(default: fn(Self) -> Option<T>) -> String {
        let (mut defaults, mut required) = (Vec::new(), Vec::new());
        for kind in Self::ALL {
            match default(kind) {
                Some(value) => defaults.push(format!("{value} for {}", kind.as_str())),
                None => required.push(kind.as_str()),
            }
        }
        format!("{}; required for {}.", defaults.join(", "), required.join(", "))
    }

    /// Returns the port on which the stock image of this kind of app listens; `None` for `custom`.
    #[must_use]
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Rstudio => Some(8787),
            Self::Notebook => Some(8888),
            Self::Custom => None,
        }
    }

    /// Returns the home directory of the user in the stock image of this kind of app; `None` for `custom`.
    #[must_use]
    pub fn home(self) -> Option<&'static str> {
        match self {
            Self::Rstudio => Some("/home/rstudio"),
            Self::Notebook => Some("/home/jovyan"),
            Self::Custom => None,
        }
    }
}

text_enum! {
    /// Icon that the catalog shows for a template. The pages contain all icons, so that a template cannot name an
    /// external image.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Icon {
        /// Notebook.
        Notebook = "notebook",
        /// Bell curve or bars.
        Statistics = "statistics",
        /// Source code.
        Code = "code",
        /// Command line.
        Terminal = "terminal",
        /// Web page.
        Web = "web",
        /// Database.
        Database = "database",
        /// Line chart.
        Chart = "chart",
        /// Globe, for geography and maps.
        Globe = "globe",
        /// Book.
        Book = "book",
        /// Laboratory flask.
        Flask = "flask",
    }
}

impl Icon {
    /// Returns the icon of a template that names none.
    #[must_use]
    pub fn of_app_type(app_type: AppType) -> Self {
        match app_type {
            AppType::Rstudio => Self::Statistics,
            AppType::Notebook => Self::Notebook,
            AppType::Custom => Self::Web,
        }
    }
}

text_enum! {
    /// Security profile of a workshop's container.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SecurityProfile {
        /// The container runs without privileges and not as root: Pod Security `restricted`.
        #[default]
        Restricted = "restricted",
        /// The container may run as root, which stock RStudio images need: Pod Security `baseline`.
        Baseline = "baseline",
    }
}
