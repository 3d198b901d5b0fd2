//! Tests of the presets for stock images, and of templates that override them.

use k8s_openapi::api::core::v1::Container;
use launcher_workshop::Workshop;

use crate::support::built;

fn app(change: impl FnOnce(&mut Workshop)) -> Container {
    built(change).pod.spec.unwrap().containers.remove(0)
}

fn env(container: &Container, name: &str) -> Option<String> {
    container.env.iter().flatten().find(|one| one.name == name).and_then(|one| one.value.clone())
}

#[test]
fn template_arguments_replace_preset_arguments() {
    let args = app(|workshop| {
        workshop.spec.app_type = "notebook".to_owned();
        workshop.spec.args = vec!["start-notebook.py".to_owned(), "--my=own".to_owned()];
    })
    .args;
    assert_eq!(args.unwrap(), ["start-notebook.py", "--my=own"]);
}

#[test]
fn template_command_of_notebook_gets_preset_options() {
    let app = app(|workshop| {
        workshop.spec.app_type = "notebook".to_owned();
        workshop.spec.command = vec!["jupyter".to_owned(), "lab".to_owned()];
    });
    assert_eq!(app.command.unwrap(), ["jupyter", "lab"]);
    let args = app.args.unwrap();
    assert!(args.iter().all(|word| word.starts_with("--")), "{args:?}");
    assert!(args.contains(&"--ServerApp.port=8888".to_owned()), "{args:?}");
}

#[test]
fn stock_rstudio_without_overrides_listens_on_loopback() {
    let command = |change: fn(&mut Workshop)| {
        app(|workshop| {
            workshop.spec.app_type = "rstudio".to_owned();
            workshop.spec.image = "docker.io/rocker/tidyverse:4.4".to_owned();
            change(workshop);
        })
        .command
    };
    let stock = command(|_| {}).unwrap();
    assert_eq!(stock[..2], ["/bin/sh", "-c"]);
    assert!(stock[2].contains(" www-address=127.0.0.1 ") && stock[2].ends_with("exec /init"), "{}", stock[2]);
    assert_eq!(command(|workshop| workshop.spec.command = vec!["/init".to_owned()]).unwrap(), ["/init"]);
    assert_eq!(command(|workshop| workshop.spec.args = vec!["x".to_owned()]), None);
    assert_eq!(command(|workshop| workshop.spec.image = "someone/rstudio:4".to_owned()), None);
    assert_eq!(command(|workshop| workshop.spec.app_type = "custom".to_owned()), None);
}

#[test]
fn code_server_image_is_recognized_with_any_registry_and_tag() {
    for image in
        ["codercom/code-server", "docker.io/codercom/code-server:4.9", "reg:5000/codercom/code-server@sha256:ab"]
    {
        let app = app(|workshop| image.clone_into(&mut workshop.spec.image));
        assert!(app.args.unwrap().contains(&"--auth=none".to_owned()), "{image}");
    }
    for image in ["someone/code-server", "codercom/code-server-slim", "evilcodercom/code-server"] {
        assert_eq!(app(|workshop| image.clone_into(&mut workshop.spec.image)).args, None, "{image}");
    }
}

#[test]
fn app_environment_has_port_and_disables_login() {
    let app = app(|workshop| drop(workshop.spec.env.insert("PORT".to_owned(), "1".to_owned())));
    assert_eq!(env(&app, "PORT").as_deref(), Some("8888"));
    assert_eq!(env(&app, "DISABLE_AUTH").as_deref(), Some("true"));
}

#[test]
fn variable_references_in_template_are_escaped() {
    let app = app(|workshop| {
        workshop.spec.args = vec!["$(HOME)".to_owned(), "$$x".to_owned(), "\"{}\n'".to_owned()];
        workshop.spec.env.insert("SECRET".to_owned(), "$(SERVICE_OWNER_EMAIL)".to_owned());
    });
    // Kubernetes reads `$$` as `$`, so it does not expand these texts.
    assert_eq!(app.args.as_ref().unwrap(), &["$$(HOME)", "$$$$x", "\"{}\n'"]);
    assert_eq!(env(&app, "SECRET").as_deref(), Some("$$(SERVICE_OWNER_EMAIL)"));
}

#[test]
fn port_and_address_are_substituted_in_command_arguments_and_environment() {
    let app = app(|workshop| {
        workshop.spec.command = ["serve", "--port=$(PORT)"].map(str::to_owned).into();
        workshop.spec.args = ["$(PORT):$(PORT)", "$(HOST)", "$PORT", "$(DISABLE_AUTH)"].map(str::to_owned).into();
        workshop.spec.env.insert("ALLOWED".to_owned(), "$(ORIGIN)".to_owned());
    });
    let host = app.args.as_ref().unwrap()[1].clone();
    assert_eq!(env(&app, "WORKSHOP_HOST").as_ref(), Some(&host));
    assert_eq!(env(&app, "ALLOWED").unwrap(), format!("https://{host}"));
    assert_eq!(env(&app, "WORKSHOP_URL").unwrap(), format!("https://{host}/"));
    assert_eq!(app.command.unwrap(), ["serve", "--port=8888"]);
    assert_eq!(app.args.unwrap(), ["8888:8888", &host, "$$PORT", "$$(DISABLE_AUTH)"]);
}

/// Expands text as the kubelet does: `$$` becomes `$`, and references to known variables become `<replaced>`.
fn expanded(text: &str) -> String {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('$') {
        expanded += before;
        let known = ["PORT", "DISABLE_AUTH", "A"].iter().find_map(|name| behind.strip_prefix(&format!("({name})")));
        rest = match (behind.strip_prefix('$'), known) {
            (Some(behind), _) => {
                expanded.push('$');
                behind
            }
            (None, Some(behind)) => {
                expanded += "<replaced>";
                behind
            }
            (None, None) => {
                expanded.push('$');
                behind
            }
        };
    }
    expanded + rest
}

#[test]
fn template_texts_reach_app_byte_for_byte() {
    assert_eq!(expanded("$(PORT) $$(PORT) $(B) $"), "<replaced> $(PORT) $(B) $", "as a kubelet does it");
    let hard = [
        "$(DISABLE_AUTH) $$(A) $$$(A) $(B) $",
        "$$",
        "\"double\" 'single' `back` \\",
        "one\ntwo\r\n\tthree\n",
        "{\"a\": {{ b }}} ${HOME} $HOME",
        "gr\u{f6}\u{df}e \u{1f427}",
        "",
        "  spaces  ",
    ];
    let app = app(|workshop| {
        workshop.spec.command = hard.map(str::to_owned).into();
        workshop.spec.args = hard.map(str::to_owned).into();
        workshop.spec.env = hard.iter().zip('A'..).map(|(value, name)| (name.into(), (*value).to_owned())).collect();
    });
    let read = |words: &Option<Vec<String>>| words.iter().flatten().map(|word| expanded(word)).collect::<Vec<_>>();
    assert_eq!(read(&app.command), hard);
    assert_eq!(read(&app.args), hard);
    for (value, name) in hard.iter().zip('A'..) {
        assert_eq!(env(&app, &name.to_string()).map(|text| expanded(&text)).as_deref(), Some(*value));
    }
}

#[test]
fn sidecar_gets_canonical_owner_address() {
    let pod = built(|workshop| workshop.spec.owner = " ALICE@Example.org ".to_owned()).pod.spec;
    assert_eq!(env(&pod.unwrap().containers[1], "SERVICE_OWNER_EMAIL").as_deref(), Some("alice@example.org"));
}
