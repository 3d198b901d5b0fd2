//! Kind of app of a template.

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
