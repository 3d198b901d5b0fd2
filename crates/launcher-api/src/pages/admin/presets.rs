//! Presets: the settings with which well-known apps run behind the sidecar, on every fleet. A preset fills the form of a new
//! template. `docs/apps.md` lists them. Browser tests launch each from its card, on the local fleet or in containers.

use std::collections::BTreeMap;

use launcher_domain::template::Icon;
use launcher_domain::{AppType, ClassAccess, JsonObject, SecurityProfile};
use serde_json::{Value, json};

use crate::pages::{Language, Text};

#[derive(Debug)]
pub(super) struct Preset {
    /// Value of `?preset=`, and suffix of the key of the label.
    pub(super) name: &'static str,
    pub(super) icon: Icon,
    app_type: AppType,
    image: Image,
    /// Port in a container. The local fleet allocates another one.
    port: Option<u16>,
    command: &'static [&'static str],
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    start_path: Option<&'static str>,
    profile: SecurityProfile,
    memory: &'static str,
    /// Documentation of the app that describes these settings.
    pub(super) source: &'static str,
}

/// Image of the app in containers.
#[derive(Debug, Clone, Copy)]
enum Image {
    /// An image of a public registry.
    Public(&'static str),
    /// No public image: these packages, which `pip` installs.
    Pip(&'static str),
    /// No public image: this Dockerfile builds one.
    Built(&'static str),
}

/// Home directory of the user in the images that the Dockerfiles of presets build.
pub(super) const HOME: &str = "/home/user";
const PYTHON: &str = "docker.io/library/python:3.13-slim";

/// Image with a desktop. `xinit` is not in the image, because it would start a second X server.
const DESKTOP: &str = "FROM docker.io/library/debian:13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
      novnc openbox tigervnc-standalone-server websockify xterm && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 user
USER 1000
WORKDIR /home/user
";

/// Starts an X server with a window manager and a terminal, whose screen only a socket in the working directory shows. The number
/// of the display is the port of the app, which no other workshop has. A restarted container has the lock file of the X server
/// before, with the number of a process that may exist again.
const DESKTOP_COMMAND: &str = "rm -f .vnc.sock /tmp/.X$PORT-lock; Xtigervnc :$PORT -geometry 1280x800 -SecurityTypes None \
                               -rfbport -1 -rfbunixpath \"$PWD/.vnc.sock\" & \
                               until [ -S .vnc.sock ]; do kill -0 $! && sleep 0.1 || exit 1; done; \
                               export DISPLAY=:$PORT; openbox & xterm -fa Monospace -fs 11 & \
                               exec websockify --web /usr/share/novnc --unix-target \"$PWD/.vnc.sock\" 127.0.0.1:$PORT";

/// A web app that begins with these values.
const CUSTOM: Preset = Preset {
    name: "",
    icon: Icon::Web,
    app_type: AppType::Custom,
    image: Image::Public(""),
    port: None,
    command: &[],
    args: &[],
    env: &[],
    start_path: None,
    profile: SecurityProfile::Restricted,
    memory: "1Gi",
    source: "",
};

/// All presets, in the order of the page.
pub(super) const PRESETS: [Preset; 13] = [
    Preset {
        name: "jupyterlab",
        icon: Icon::Notebook,
        app_type: AppType::Notebook,
        image: Image::Public("quay.io/jupyter/scipy-notebook:latest"),
        memory: "2Gi",
        source: "https://jupyter-docker-stacks.readthedocs.io/en/latest/using/selecting.html",
        ..CUSTOM
    },
    Preset {
        name: "rstudio",
        icon: Icon::Statistics,
        app_type: AppType::Rstudio,
        image: Image::Public("docker.io/rocker/rstudio:latest"),
        // The image starts as root and then changes to the user rstudio.
        profile: SecurityProfile::Baseline,
        memory: "2Gi",
        source: "https://rocker-project.org/images/versioned/rstudio.html",
        ..CUSTOM
    },
    Preset {
        name: "vscode",
        icon: Icon::Code,
        image: Image::Public("docker.io/codercom/code-server:latest"),
        // The image's own port, 8080, is the sidecar's.
        port: Some(8443),
        command: &["code-server"],
        args: &[
            "--auth=none",
            "--bind-addr=127.0.0.1:$(PORT)",
            "--trusted-origins=$(HOST)",
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-workspace-trust",
            // The first page advertises no product.
            "--disable-getting-started-override",
            ".",
        ],
        memory: "2Gi",
        source: "https://coder.com/docs/code-server/guide",
        ..CUSTOM
    },
    Preset {
        name: "marimo",
        icon: Icon::Notebook,
        image: Image::Public("ghcr.io/marimo-team/marimo:latest"),
        port: Some(2718),
        command: &["marimo", "edit"],
        args: &[
            "--headless",
            "--no-token",
            "--host=127.0.0.1",
            "--port=$(PORT)",
            "--proxy=$(HOST)",
            "--allow-origins=$(ORIGIN)",
            "--skip-update-check",
        ],
        source: "https://docs.marimo.io/guides/deploying/prebuilt_containers",
        ..CUSTOM
    },
    Preset {
        name: "streamlit",
        icon: Icon::Chart,
        image: Image::Pip("streamlit"),
        port: Some(8501),
        command: &["streamlit", "run", "app.py"],
        args: &[
            "--server.address=127.0.0.1",
            "--server.port=$(PORT)",
            "--server.headless=true",
            "--browser.serverAddress=$(HOST)",
            "--browser.gatherUsageStats=false",
        ],
        source: "https://docs.streamlit.io/deploy/tutorials/docker",
        ..CUSTOM
    },
    Preset {
        name: "gradio",
        image: Image::Pip("gradio"),
        port: Some(7860),
        command: &["python3", "app.py"],
        env: &[
            ("GRADIO_SERVER_NAME", "127.0.0.1"),
            ("GRADIO_SERVER_PORT", "$(PORT)"),
            ("GRADIO_ROOT_PATH", "$(ORIGIN)"),
            ("GRADIO_ANALYTICS_ENABLED", "False"),
        ],
        source: "https://www.gradio.app/guides/deploying-gradio-with-docker",
        ..CUSTOM
    },
    Preset {
        name: "shiny",
        icon: Icon::Statistics,
        image: Image::Pip("shiny"),
        port: Some(8000),
        command: &["shiny", "run", "app.py"],
        args: &["--host=127.0.0.1", "--port=$(PORT)"],
        source: "https://shiny.posit.co/py/get-started/deploy-on-prem.html",
        ..CUSTOM
    },
    Preset {
        name: "dash",
        icon: Icon::Chart,
        image: Image::Pip("dash"),
        port: Some(8050),
        command: &["python3", "app.py"],
        // The method `run` of Dash reads HOST and PORT.
        env: &[("HOST", "127.0.0.1")],
        source: "https://dash.plotly.com/reference",
        ..CUSTOM
    },
    Preset {
        name: "panel",
        icon: Icon::Chart,
        image: Image::Pip("panel"),
        port: Some(5006),
        command: &["panel", "serve", "app.py"],
        args: &["--address=127.0.0.1", "--port=$(PORT)", "--allow-websocket-origin=$(HOST)", "--use-xheaders"],
        source: "https://panel.holoviz.org/how_to/server/commandline.html",
        ..CUSTOM
    },
    Preset {
        name: "voila",
        icon: Icon::Notebook,
        image: Image::Pip("voila ipykernel"),
        port: Some(8866),
        command: &["voila", "app.ipynb"],
        args: &["--no-browser", "--Voila.ip=127.0.0.1", "--port=$(PORT)"],
        source: "https://voila.readthedocs.io/en/stable/deploy.html",
        ..CUSTOM
    },
    Preset {
        name: "terminal",
        icon: Icon::Terminal,
        image: Image::Public("docker.io/tsl0922/ttyd:latest"),
        port: Some(7681),
        command: &["ttyd"],
        args: &["--interface=lo", "--port=$(PORT)", "--check-origin", "--writable", "bash"],
        // The folder of the image is root's: another user can write no file there.
        profile: SecurityProfile::Baseline,
        memory: "512Mi",
        source: "https://github.com/tsl0922/ttyd",
        ..CUSTOM
    },
    Preset {
        name: "desktop",
        icon: Icon::Flask,
        image: Image::Built(DESKTOP),
        port: Some(6080),
        command: &["sh", "-c", DESKTOP_COMMAND],
        start_path: Some("/vnc.html?autoconnect=1&resize=remote"),
        source: "https://github.com/novnc/noVNC",
        ..CUSTOM
    },
    Preset {
        name: "web",
        image: Image::Public(PYTHON),
        port: Some(8000),
        command: &["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"],
        source: "https://docs.python.org/3/library/http.server.html",
        ..CUSTOM
    },
];

impl Preset {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the last preset of this kind of app: the most general one.
    pub(super) fn of_app_type(app_type: AppType) -> Option<&'static Self> {
        PRESETS.iter().rfind(|preset| preset.app_type == app_type)
    }

    /// True if the author may save a template of the class with the image and the profile of the preset.
    fn is_allowed(&self, access: &ClassAccess) -> bool {
        let content = &access.class().content;
        let has_image = if let Image::Public(image) = self.image { content.allows_image(image) } else { true };
        let may_be_baseline = access.caller().is_admin() || content.allows_baseline;
        has_image && (self.profile == SecurityProfile::Restricted || may_be_baseline)
    }

    pub(super) fn label(&self, t: Language) -> Text {
        t.text(&format!("preset-{}", self.name))
    }

    /// Returns the JSON object of a template with these settings. Without a public image, it has the name of a local one if
    /// the fleet ignores images.
    pub(super) fn template(&self, label: &str, ignores_image: bool) -> JsonObject {
        let image = match self.image {
            Image::Public(image) => image.to_owned(),
            Image::Pip(_) | Image::Built(_) if ignores_image => format!("localhost/{}", self.name),
            Image::Pip(_) | Image::Built(_) => String::new(),
        };
        let template = json!({
            "name": label, "icon": self.icon, "app_type": self.app_type, "image": image, "port": self.port,
            "command": self.command, "args": self.args, "env": BTreeMap::from_iter(self.env.iter().copied()),
            "start_path": self.start_path, "security_profile": self.profile,
            "resources": { "memory_limit": self.memory }, "active": true,
        });
        if let Value::Object(template) = template { template } else { JsonObject::new() }
    }

    /// Returns the directory of the app that gets course material, if the preset has a Dockerfile that makes it.
    pub(super) fn directory(&self) -> &'static str {
        if self.dockerfile().is_some() { HOME } else { "" }
    }

    /// Returns a Dockerfile that builds the image; `None` if there is a public one.
    pub(super) fn dockerfile(&self) -> Option<String> {
        match self.image {
            Image::Public(_) => None,
            Image::Built(dockerfile) => Some(dockerfile.to_owned()),
            Image::Pip(packages) => Some(format!(
                "FROM {PYTHON}\nRUN pip install --no-cache-dir {packages}\nRUN useradd --create-home --uid 1000 user\n\
                 USER 1000\nWORKDIR /home/user\nCOPY --chown=1000 . .\n"
            )),
        }
    }
}

/// Returns the presets whose templates the author may save: in a class, not all of them.
pub(super) fn offered(access: Option<&ClassAccess>) -> Vec<&'static Preset> {
    PRESETS.iter().filter(|preset| access.is_none_or(|access| preset.is_allowed(access))).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use launcher_domain::TemplateContent;

    use super::*;
    use crate::pages::admin::lines;

    #[test]
    fn each_preset_is_a_template_that_listens_on_the_loopback_address_of_its_port() {
        for preset in &PRESETS {
            let content = TemplateContent::read(&preset.template(preset.name, true))
                .unwrap_or_else(|errors| panic!("{}: {errors:?}", preset.name));
            let settings = content.settings;
            assert!(preset.source.starts_with("https://"), "{}", preset.name);
            if settings.app_type != AppType::Custom {
                continue; // `launcher_workshop::app` starts these apps.
            }
            let words = [settings.command, settings.args, settings.env.into_values().collect()].concat();
            let has = |parts: &[&str]| words.iter().any(|word| parts.iter().any(|part| word.contains(part)));
            assert!(has(&["127.0.0.1", "--interface=lo"]), "{} listens on the loopback address", preset.name);
            // Dash reads the variable PORT.
            assert!(has(&["$(PORT)", "$PORT"]) || preset.name == "dash", "{} listens on its port", preset.name);
            let container = TemplateContent::read(&preset.template(preset.name, false));
            assert_eq!(container.is_err(), preset.dockerfile().is_some(), "{}: an image, or a Dockerfile", preset.name);
        }
    }

    const BEGIN: &str = "<!-- presets -->\n";
    const END: &str = "<!-- end of presets -->";

    /// With UPDATE_PRESETS=1, this test writes the list.
    #[test]
    fn document_lists_the_presets() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/apps.md");
        let committed = std::fs::read_to_string(&file).unwrap();
        let (before, rest) = committed.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let sections: String = PRESETS.iter().map(section).collect();
        let generated = format!("{before}{BEGIN}{sections}\n{END}{after}");
        if std::env::var_os("UPDATE_PRESETS").is_some() {
            std::fs::write(&file, generated).unwrap();
        } else {
            assert!(committed == generated, "the presets of docs/apps.md are old: make generated");
        }
    }

    fn section(preset: &Preset) -> String {
        let words =
            |words: &[&str]| lines::from_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let mut text = format!("\n### {}\n\n", preset.label(Language::english()));
        let mut row = |field: &str, value: &str| {
            if !value.is_empty() {
                writeln!(text, "- {field}: `{value}`").unwrap();
            }
        };
        if let Image::Public(image) = preset.image {
            row("image", image);
        }
        row("port", &preset.port.or(preset.app_type.default_port()).unwrap().to_string());
        row("command", &words(preset.command));
        row("arguments", &words(preset.args));
        for (name, value) in preset.env {
            row("environment", &format!("{name}={value}"));
        }
        row("start path", preset.start_path.unwrap_or_default());
        if preset.profile != SecurityProfile::Restricted {
            row("security profile", preset.profile.as_str());
        }
        writeln!(text, "- source: <{}>", preset.source).unwrap();
        if let Some(dockerfile) = preset.dockerfile() {
            write!(text, "\n```dockerfile\n{dockerfile}```\n").unwrap();
        }
        text
    }
}
