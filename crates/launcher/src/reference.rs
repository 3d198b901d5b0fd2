//! Completion scripts and manual pages, generated from the command line itself.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use launcher_domain::version::version;

use crate::cli::Cli;

/// Returns the completion script of a shell.
///
/// # Errors
/// Returns an error if the generator writes a script that is not UTF-8.
pub(crate) fn completions(shell: Shell) -> Result<String, String> {
    let mut script = Vec::new();
    generate(shell, &mut without_hidden_commands(&Cli::command()), "launcher", &mut script);
    String::from_utf8(script).map_err(|error| error.to_string())
}

/// Returns the command line without its hidden commands, which `clap_complete` would complete.
fn without_hidden_commands(command: &Command) -> Command {
    let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned();
    Command::new("launcher").version(version()).propagate_version(true).subcommands(visible)
}

/// Writes one manual page for the program and one for each command: `launcher.1`, `launcher-serve.1`, …
///
/// # Errors
/// Returns an error that names the folder if a page cannot be written.
pub(crate) fn write_manual(folder: &Path) -> Result<(), String> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| format!("{}: manual pages cannot be written: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use clap::{Arg, ArgGroup, Command, CommandFactory};

    use crate::cli::Cli;

    /// Pages with tables of settings, and the command with these settings.
    const PAGES: [(&str, &str); 2] = [("docs/settings.md", "serve"), ("docs/operator.md", "operator")];
    const BEGIN: &str = "<!-- settings: ";
    const END: &str = "<!-- end of settings -->";

    /// With UPDATE_SETTINGS=1, this test writes the tables.
    #[test]
    fn documents_have_tables_of_all_settings() {
        let program = Cli::command();
        for (page, command) in PAGES {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
            let (command, committed) =
                (program.find_subcommand(command).unwrap(), std::fs::read_to_string(&file).unwrap());
            let generated = with_tables(&committed, command);
            if std::env::var_os("UPDATE_SETTINGS").is_some() {
                std::fs::write(&file, generated).unwrap();
                continue;
            }
            assert!(committed == generated, "the tables of {page} are old: make generated");
        }
    }

    /// Replaces each table of the page. A comment before it names the struct with the settings.
    fn with_tables(page: &str, command: &Command) -> String {
        let groups: BTreeSet<&str> = command.get_groups().map(|group| group.get_id().as_str()).collect();
        let (mut text, mut missing) = (String::new(), groups);
        for (index, part) in page.split(BEGIN).enumerate() {
            let Some((name, rest)) = part.split_once(" -->").filter(|_| index > 0) else {
                text.push_str(part);
                continue;
            };
            assert!(
                missing.remove(name),
                "{BEGIN}{name}: no struct of `launcher {}` has this name",
                command.get_name()
            );
            let (_, after) = rest.split_once(END).expect("a table ends with a comment");
            text.push_str(&format!("{BEGIN}{name} -->\n\n{}\n{END}{after}", table(command, name)));
        }
        missing.retain(|name| settings_of(command, name).next().is_some());
        assert!(missing.is_empty(), "`launcher {}` has settings without a table: {missing:?}", command.get_name());
        text
    }

    /// Returns the settings that a struct declares itself, in their order. clap makes a group for each struct. The group of
    /// the struct that has the others is empty: its settings are in no group.
    fn settings_of<'a>(command: &'a Command, name: &str) -> impl Iterator<Item = &'a Arg> {
        let of_group = |group: &ArgGroup| group.get_args().cloned().collect::<Vec<_>>();
        let own = command.get_groups().find(|group| group.get_id() == name).map(of_group).unwrap();
        let grouped: Vec<_> = command.get_groups().flat_map(of_group).collect();
        let is_own = move |setting: &&Arg| {
            let id = setting.get_id();
            if own.is_empty() { !grouped.contains(id) } else { own.contains(id) }
        };
        command.get_arguments().filter(|argument| argument.get_env().is_some()).filter(is_own)
    }

    fn table(command: &Command, name: &str) -> String {
        let rows = settings_of(command, name).map(|setting| {
            let (default, meaning) = default_and_meaning(setting);
            let (variable, flag) = (setting.get_env().unwrap().to_str().unwrap(), setting.get_long().unwrap());
            let value = setting.get_value_names().unwrap().join(" ");
            format!("| `{variable}` | `--{flag} {value}` | {default} | {meaning} |\n")
        });
        format!("| variable | flag | default | meaning |\n|---|---|---|---|\n{}", rows.collect::<String>())
    }

    /// Returns the default and the meaning of a setting. Some help texts end with the default.
    fn default_and_meaning(setting: &Arg) -> (String, String) {
        let help = setting.get_long_help().or(setting.get_help()).unwrap().to_string();
        let (meaning, described) = help.split_once("; default: ").map_or((&*help, None), |(all, end)| (all, Some(end)));
        let values: Vec<&str> = setting.get_default_values().iter().map(|value| value.to_str().unwrap()).collect();
        let default = match (described, values.as_slice()) {
            (Some(described), _) => described.to_owned(),
            (None, []) if setting.is_required_set() => "required".to_owned(),
            (None, [] | [""]) => "none".to_owned(),
            (None, values) => format!("`{}`", values.join(",")),
        };
        let choices = setting.get_possible_values();
        let choices = choices.iter().map(|choice| format!("`{}`: {}", choice.get_name(), choice.get_help().unwrap()));
        (default, [meaning.to_owned()].into_iter().chain(choices).collect::<Vec<_>>().join(". "))
    }
}
