//! Icon of a template.

use serde::{Deserialize, Serialize};

use super::app_type::AppType;
use crate::text_enum::text_enum;

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
