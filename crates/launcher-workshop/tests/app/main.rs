//! Tests of the start of each app type: command, arguments, environment, files.

mod container;
mod environment;
mod process;
mod support;
