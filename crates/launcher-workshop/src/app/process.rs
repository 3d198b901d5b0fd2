//! Program, arguments, environment and files of an app that runs as a process and not in a container.

use std::collections::BTreeMap;
use std::ffi::OsString;

use launcher_domain::AppType;

use super::machine::Machine;
use super::spec::AppSpec;
use super::{jupyter, rstudio};

/// The program on the machine that runs in place of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The machine's JupyterLab.
    Jupyter,
    /// The machine's RStudio Server.
    Rstudio,
    /// The program that the template's command names in its first word.
    Named(String),
}

/// The command that starts an app as a process, in the directory [`Machine::working_dir`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCommand {
    /// The program.
    pub program: Program,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment variables to set in addition to the inherited variables.
    pub env: BTreeMap<OsString, OsString>,
}

impl AppSpec<'_> {
    /// Returns the command, or `None` for a `custom` app without a command.
    ///
    /// A `custom` app runs the template's command. For `notebook` and `rstudio`, the machine's programs replace the
    /// image. The template's command is for the image, so it is ignored.
    #[must_use]
    pub fn process_command(&self, machine: &Machine) -> Option<ProcessCommand> {
        let template_args = self.with_port(self.args);
        let (program, args, mut env) = match self.app_type {
            AppType::Custom => {
                let mut command = self.with_port(self.command).into_iter();
                let program = Program::Named(command.next()?);
                (program, command.chain(template_args).collect(), BTreeMap::new())
            }
            AppType::Notebook => {
                let args = jupyter::arguments(self.port, machine, &template_args);
                (Program::Jupyter, args, jupyter::environment(&machine.app_dir).into())
            }
            AppType::Rstudio => {
                let args = rstudio::arguments(self.port, machine, template_args);
                (Program::Rstudio, args, rstudio::environment(&machine.app_dir).into())
            }
        };
        env.extend(self.environment().into_iter().map(|(name, value)| (name.into(), value.into())));
        Some(ProcessCommand { program, args, env })
    }

    /// Returns the files that the app reads at its start: paths below [`Machine::app_dir`], and contents.
    #[must_use]
    pub fn process_files(&self, machine: &Machine) -> Vec<(&'static str, String)> {
        match self.app_type {
            AppType::Rstudio => rstudio::files(machine).into(),
            AppType::Notebook | AppType::Custom => Vec::new(),
        }
    }
}
