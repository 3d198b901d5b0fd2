//! The fields of the template editor.

use super::super::Label;

/// Headings of the form's groups of fields.
pub(crate) const SHOWN: &str = "What people see";
pub(crate) const RUN: &str = "What runs";
pub(crate) const USED: &str = "What it may use";
pub(crate) const LASTING: &str = "How long it lasts";

pub(crate) const NAME: Label = Label { label: "Name", hint: "1 to 80 characters." };
pub(crate) const DESCRIPTION: Label =
    Label { label: "Description", hint: "Markdown, at most 4,000 characters. Its first lines are shown on the card." };
pub(crate) const ACTIVE: Label = Label {
    label: "In the catalog",
    hint: "People can launch it. Running workshops are not touched when it leaves the catalog.",
};

pub(crate) const APP_TYPE: Label = Label { label: "Kind of app", hint: "" };
pub(crate) const IMAGE: Label = Label { label: "Image", hint: "For example quay.io/jupyter/base-notebook:latest." };
pub(crate) const PORT: Label = Label {
    label: "Port",
    hint: "Where the app listens. Empty: 8787 for RStudio, 8888 for Jupyter; required for a web app.",
};
pub(crate) const COMMAND: Label = Label { label: "Command", hint: WORDS };
pub(crate) const ARGUMENTS: Label = Label { label: "Arguments", hint: WORDS };
pub(crate) const ENVIRONMENT: Label = Label {
    label: "Environment",
    hint: "One NAME=value per line. A value that starts with a quotation mark is a JSON string, for line breaks \
           inside: KEY=\"a\\nb\". Everybody who launches the workshop can read these values in it: write no secrets.",
};
pub(crate) const SECURITY_PROFILE: Label = Label { label: "Security profile", hint: "" };

pub(crate) const CPU_REQUEST: Label = Label { label: "CPU set aside", hint: "Empty: 100m." };
pub(crate) const CPU_LIMIT: Label = Label { label: "CPU at most", hint: "Empty: 2." };
pub(crate) const MEMORY_REQUEST: Label = Label { label: "Memory set aside", hint: "Empty: 256Mi." };
pub(crate) const MEMORY_LIMIT: Label = Label { label: "Memory at most", hint: "Empty: 2Gi." };

pub(crate) const LIFETIME: Label =
    Label { label: "Lifetime in seconds", hint: "From ready to the end. Empty: 7200, two hours." };
pub(crate) const EXTENSION: Label = Label { label: "One extension in seconds", hint: "Empty: 3600, one hour." };
pub(crate) const LONGEST: Label =
    Label { label: "Longest lifetime in seconds", hint: "No extension goes beyond. Empty: 28800, eight hours." };

const WORDS: &str = "One word per line; $(PORT) is where the app listens. A word with a line break in it, or with \
                     spaces at an end, is a JSON string: \"a\\nb\".";
