//! Starting points of a new template: stock images with settings that work.

use launcher_domain::template::Icon;
use launcher_domain::{AppType, SecurityProfile};

use super::form::TemplateForm;
use crate::pages::icons;
use crate::pages::language::{Language, Text};

/// A starting point. Images and ports are those of the images' documentation: jupyter/docker-stacks, rocker-project.org
/// and coder/code-server.
#[derive(Debug)]
pub(super) struct StartingPoint {
    /// Value of `?start=`, and suffix of the key of its name.
    pub(super) name: &'static str,
    icon: Icon,
    app_type: AppType,
    image: &'static str,
    port: &'static str,
    args: &'static str,
    profile: SecurityProfile,
    memory: &'static str,
}

/// All starting points, in the order of the page.
const ALL: [StartingPoint; 4] = [
    StartingPoint {
        name: "jupyterlab",
        icon: Icon::Notebook,
        app_type: AppType::Notebook,
        image: "quay.io/jupyter/scipy-notebook:latest",
        port: "",
        args: "",
        profile: SecurityProfile::Restricted,
        memory: "2 GB",
    },
    StartingPoint {
        name: "rstudio",
        icon: Icon::Statistics,
        app_type: AppType::Rstudio,
        image: "docker.io/rocker/rstudio:latest",
        port: "",
        args: "",
        // The image starts as root and then changes to the user rstudio.
        profile: SecurityProfile::Baseline,
        memory: "2 GB",
    },
    StartingPoint {
        name: "vscode",
        icon: Icon::Code,
        app_type: AppType::Custom,
        image: "docker.io/codercom/code-server:latest",
        // The image's own port, 8080, is the sidecar's.
        port: "8443",
        args: "--auth none --bind-addr '127.0.0.1:$(PORT)' --disable-telemetry --disable-update-check \
               --disable-workspace-trust /home/coder",
        profile: SecurityProfile::Restricted,
        memory: "2 GB",
    },
    StartingPoint {
        name: "web",
        icon: Icon::Web,
        app_type: AppType::Custom,
        image: "",
        port: "8000",
        args: "",
        profile: SecurityProfile::Restricted,
        memory: "1 GB",
    },
];

impl StartingPoint {
    /// Returns the starting point with this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|point| point.name == name)
    }

    /// Returns the form of a new template, with this name for the template.
    pub(super) fn form(&self, name: &str) -> TemplateForm {
        TemplateForm::new_template()
            .with("name", name)
            .with("icon", self.icon.as_str())
            .with("app_type", self.app_type.as_str())
            .with("image", self.image)
            .with("port", self.port)
            .with("args", self.args)
            .with("security_profile", self.profile.as_str())
            .with("memory_limit", self.memory)
    }
}

/// A starting point as a choice on the page of a new template.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) name: &'static str,
    pub(super) label: Text,
    /// Path of the icon, as in [`icons::path`].
    pub(super) icon: &'static str,
    pub(super) is_current: bool,
}

/// Returns all starting points. The current one has this icon.
pub(super) fn choices(t: Language, icon: &str) -> Vec<Start> {
    let choice = |point: &'static StartingPoint| Start {
        name: point.name,
        label: t.text(&format!("start-{}", point.name)),
        icon: icons::path(point.icon),
        is_current: icon == point.icon.as_str(),
    };
    ALL.iter().map(choice).collect()
}
