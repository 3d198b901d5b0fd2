//! Writes logs to standard error, one line per event, as text or JSON.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing::Metadata;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Log settings of a process.
#[derive(Debug, Clone, Args)]
pub struct LogSettings {
    /// What to log: a level, or levels per module (info,launcher_api=debug)
    #[arg(long, env = "SERVICE_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,

    /// How to write logs
    #[arg(long, env = "SERVICE_LOG_FORMAT", default_value = "auto", value_name = "FORMAT")]
    pub log_format: LogFormat,
}

/// Format of the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    Auto,
    /// Text
    Text,
    /// One JSON object a line
    Json,
}

/// Initializes logging. Call this function once, at the start of the process.
///
/// # Errors
/// Returns one line that names the setting if the filter is invalid.
pub fn init(settings: &LogSettings) -> Result<(), String> {
    // `Targets` filters by module only. A filter on fields needs a regular expression engine, whose memory every
    // sidecar would pay for.
    let asked_for: Targets = settings.log.parse().map_err(|error| format!("SERVICE_LOG cannot be read: {error}"))?;
    let filter = asked_for.and(filter_fn(|line| !is_repeated(line)).with_max_level_hint(LevelFilter::TRACE));
    let terminal = std::io::stderr().is_terminal();
    let json = match settings.log_format {
        LogFormat::Auto => !terminal,
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(terminal);
    let lines = if json { lines.json().flatten_event(true).with_span_list(false).boxed() } else { lines.boxed() };
    // Ignore the error: tests call this function more than once, and the first logger stays active.
    drop(tracing_subscriber::registry().with(lines.with_filter(filter)).try_init());
    Ok(())
}

/// True for the event by which the OpenTelemetry library reports a batch of spans that it cannot send. The library logs
/// this event for each batch, without destination and cause. The launcher's exporter logs destination and cause once.
fn is_repeated(line: &Metadata<'_>) -> bool {
    let repeated = ["Export.", "BatchSpanProcessor.ExportError", "BatchSpanProcessor.Shutdown."];
    line.target().starts_with("opentelemetry") && repeated.iter().any(|name| line.name().starts_with(name))
}
