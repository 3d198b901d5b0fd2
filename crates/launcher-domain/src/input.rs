//! Parsers for values that people type into a form: durations, amounts of CPU and memory, and command lines.
//!
//! Each parser returns its error as a text with a code, so that a page can translate it.

mod amount;
mod command_line;
mod duration;

pub use amount::{AmountError, parse_cpu, parse_memory};
pub use command_line::{CommandLineError, command_line, parse_command_line};
pub use duration::{DurationError, duration, parse_duration};
