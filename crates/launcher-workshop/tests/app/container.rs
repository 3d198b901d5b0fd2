//! Tests of command and arguments in a container.

use std::process::Command;

use launcher_domain::AppType::{Custom, Notebook, Rstudio};
use launcher_workshop::app::ContainerCommand;

use crate::support::{Template, template, words};

const JUPYTER_OPTIONS: [&str; 8] = [
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=8888",
    "--ServerApp.port_retries=0",
    "--ServerApp.open_browser=False",
    "--ServerApp.allow_remote_access=True",
    "--ServerApp.allow_origin=https://intro.example.org",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
];
const CODE_SERVER_OPTIONS: [&str; 5] = [
    "--bind-addr=127.0.0.1:8888",
    "--auth=none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-workspace-trust",
];
const ROCKER_SCRIPT: [&str; 3] = [
    "/bin/sh",
    "-c",
    "conf=/etc/rstudio/disable_auth_rserver.conf; for line in www-address=127.0.0.1 www-frame-origin=same; do if \
     [ -w \"$conf\" ] && ! grep -qxF \"$line\" \"$conf\"; then echo \"$line\" >>\"$conf\"; fi; done; exec /init",
];

#[test]
fn container_command_is_preset_of_app_type_unless_template_overrides_it() {
    let notebook_args = [&["start-notebook.py"][..], &JUPYTER_OPTIONS].concat();
    let cases: [(Template, &[&str], &[&str]); 12] = [
        (template(Notebook, "quay.io/jupyter/base-notebook:latest"), &[], &notebook_args),
        (template(Notebook, "any").command(&["jupyter", "lab"]), &["jupyter", "lab"], &JUPYTER_OPTIONS),
        (template(Notebook, "any").args(&["start-notebook.py", "--x"]), &[], &["start-notebook.py", "--x"]),
        (template(Rstudio, "docker.io/rocker/rstudio:4"), &ROCKER_SCRIPT, &[]),
        (template(Rstudio, "rocker/geospatial@sha256:ab"), &ROCKER_SCRIPT, &[]),
        (template(Rstudio, "rocker/rstudio").command(&["/init"]), &["/init"], &[]),
        (template(Rstudio, "rocker/rstudio").args(&["x"]), &[], &["x"]),
        (template(Rstudio, "someone/rstudio:4"), &[], &[]),
        (template(Custom, "registry.example.org/app:1"), &[], &[]),
        (template(Custom, "reg:5000/codercom/code-server:4.9"), &[], &CODE_SERVER_OPTIONS),
        (template(Custom, "codercom/code-server").args(&["--x"]), &[], &["--x"]),
        (
            template(Custom, "any").command(&["serve", "$(PORT)"]).args(&["$(A):$(PORT)", "--at=$(ORIGIN),$(HOST)"]),
            &["serve", "8888"],
            &["$(A):8888", "--at=https://intro.example.org,intro.example.org"],
        ),
    ];
    for (template, command, args) in cases {
        let expected = ContainerCommand { command: words(command), args: words(args) };
        assert_eq!(template.on(8888).container_command(), expected, "{template:?}");
    }
}

#[test]
fn script_of_rocker_image_adds_its_settings_once() {
    let folder = std::env::temp_dir().join(format!("rocker-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("disable_auth_rserver.conf");
    let script = ROCKER_SCRIPT[2].replace("/etc/rstudio/disable_auth_rserver.conf", file.to_str().unwrap());
    let run = || Command::new("sh").args(["-c", &script.replace("exec /init", "exec true")]).status().unwrap();
    assert!(run().success() && !file.exists(), "another image has no such file");
    std::fs::write(&file, "auth-none=1\n").unwrap();
    for _ in 0..2 {
        assert!(run().success());
        let content = std::fs::read_to_string(&file).unwrap();
        assert_eq!(content, "auth-none=1\nwww-address=127.0.0.1\nwww-frame-origin=same\n");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
