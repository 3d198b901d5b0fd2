//! Labels and hints of the fields in the template editor.

use crate::pages::texts::parts::Label;

/// Headings of the groups of fields.
pub(crate) const SHOWN: &str = "Catalog entry";
pub(crate) const RUN: &str = "App";
pub(crate) const USED: &str = "Resources";
pub(crate) const LASTING: &str = "Lifetime";

pub(crate) const NAME: Label = Label { label: "Name", hint: "1 to 80 characters." };
pub(crate) const DESCRIPTION: Label =
    Label { label: "Description", hint: "Markdown, at most 4,000 characters. The card shows the first lines." };
pub(crate) const ACTIVE: Label = Label {
    label: "In the catalog",
    hint: "Users can launch it. If it leaves the catalog, running workshops keep running.",
};

pub(crate) const APP_TYPE: Label = Label { label: "App type", hint: "" };
pub(crate) const IMAGE: Label = Label { label: "Image", hint: "For example quay.io/jupyter/base-notebook:latest." };
pub(crate) const PORT: Label = Label {
    label: "Port",
    hint: "Port on which the app listens. Empty: 8787 for RStudio, 8888 for Jupyter. Required for a web app.",
};
pub(crate) const COMMAND: Label = Label { label: "Command", hint: WORDS };
pub(crate) const ARGUMENTS: Label = Label { label: "Arguments", hint: WORDS };
pub(crate) const ENVIRONMENT: Label = Label {
    label: "Environment",
    hint: "One NAME=value per line. For a value with line breaks, write a JSON string: KEY=\"a\\nb\". Everyone who \
           launches the workshop can read these values. Do not write secrets here.",
};
pub(crate) const SECURITY_PROFILE: Label = Label { label: "Security profile", hint: "" };

pub(crate) const CPU_REQUEST: Label = Label { label: "CPU request", hint: "Reserved for the workshop. Empty: 100m." };
pub(crate) const CPU_LIMIT: Label = Label { label: "CPU limit", hint: "Maximum for the workshop. Empty: 2." };
pub(crate) const MEMORY_REQUEST: Label =
    Label { label: "Memory request", hint: "Reserved for the workshop. Empty: 256Mi." };
pub(crate) const MEMORY_LIMIT: Label = Label { label: "Memory limit", hint: "Maximum for the workshop. Empty: 2Gi." };

pub(crate) const LIFETIME: Label =
    Label { label: "Lifetime in seconds", hint: "Time from ready to the end. Empty: 7200 (two hours)." };
pub(crate) const EXTENSION: Label =
    Label { label: "Extension in seconds", hint: "Time that one extension adds. Empty: 3600 (one hour)." };
pub(crate) const LONGEST: Label =
    Label { label: "Maximum lifetime in seconds", hint: "Extensions cannot exceed it. Empty: 28800 (eight hours)." };

const WORDS: &str = "One word per line. $(PORT) stands for the app's port. For a word with a line break, or with \
                     spaces at its start or end, write a JSON string: \"a\\nb\".";
