//! Lists of the template editor: rows with a field for each part of an entry. Buttons add and remove rows.
//!
//! The parts of a row have names such as `parameters.0.label` in the form. A blank row has no entry in the value.

use std::collections::BTreeMap;

use launcher_domain::template::slug_of;
use launcher_domain::{FieldError, FieldRule, JsonObject, MaterialKind, ParameterKind, SourceUrl};
use serde_json::{Value, json};

use crate::extract::unescaped;
use crate::pages::Language;
use crate::pages::admin::fields::{Choices, Codec};

/// Maximum number of a row in a form. It bounds the memory of a form.
const MAX_NUMBER: usize = 999;

pub(super) type Row = BTreeMap<&'static str, String>;

#[derive(Debug)]
pub(super) struct List {
    /// Key of the heading of a row. Its attribute `add` is the label of the button that adds a row.
    pub(super) key: &'static str,
    pub(super) most: usize,
    pub(super) columns: &'static [Column],
    kind: ListKind,
}

#[derive(Debug)]
pub(super) struct Column {
    /// Name in the JSON object of an entry.
    pub(super) name: &'static str,
    pub(super) codec: Codec,
    /// Key of the label. The attribute `hint` of this message is the hint.
    pub(super) label: &'static str,
    /// True if the page shows the part only on request.
    pub(super) is_folded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListKind {
    Sources,
    Parameters,
    /// Variables of the app: an object with the values by name.
    Variables,
}

const fn shown(name: &'static str, codec: Codec, label: &'static str) -> Column {
    Column { name, codec, label, is_folded: false }
}

const fn folded(name: &'static str, codec: Codec, label: &'static str) -> Column {
    Column { name, codec, label, is_folded: true }
}

pub(super) static SOURCES: List = List {
    key: "row-source",
    most: launcher_domain::template::MAX_MATERIAL_SOURCES,
    kind: ListKind::Sources,
    columns: &[
        shown("url", Codec::Text, "part-url"),
        folded("ref", Codec::Text, "part-ref"),
        folded("folder", Codec::Text, "part-folder"),
        folded("target", Codec::Text, "part-target"),
        folded("sha256", Codec::Text, "part-sha256"),
        folded("secret", Codec::Text, "part-secret"),
    ],
};

pub(super) static PARAMETERS: List = List {
    key: "row-question",
    most: 10,
    kind: ListKind::Parameters,
    columns: &[
        shown("label", Codec::Title, "part-label"),
        shown("kind", Codec::Choice(&PARAMETER_KINDS), "part-kind"),
        shown("choices", Codec::Lines, "part-choices"),
        shown("required", Codec::Checkbox, "part-required"),
        folded("name", Codec::Text, "part-variable"),
        folded("help", Codec::Title, "part-help"),
        folded("default", Codec::Title, "part-default"),
        folded("min", Codec::Number, "part-min"),
        folded("max", Codec::Number, "part-max"),
        folded("integer", Codec::Checkbox, "part-integer"),
        folded("max_length", Codec::Integer, "part-max-length"),
    ],
};

pub(super) static VARIABLES: List = List {
    key: "row-variable",
    most: 64,
    kind: ListKind::Variables,
    columns: &[shown("name", Codec::Text, "part-name"), shown("value", Codec::Verbatim, "part-value")],
};

static PARAMETER_KINDS: Choices = Choices {
    entries: |t| ParameterKind::ALL.map(|kind| (kind.as_str(), t.text(&format!("answer-{}", kind.as_str())))).into(),
    refusal: Some("editor-not-in-list"),
};

/// Errors of rows: number of the row, name of the column, and sentence.
pub(super) type RowErrors = Vec<(usize, &'static str, String)>;

impl List {
    /// Reads the name of a part in a form, without the name of the list: number and column.
    pub(super) fn part(&self, name: &str) -> Option<(usize, &'static str)> {
        let (number, column) = name.split_once('.')?;
        let number = number.parse().ok().filter(|number| *number <= MAX_NUMBER)?;
        Some((number, self.columns.iter().find(|known| known.name == column)?.name))
    }

    pub(super) fn new_row(&self) -> Row {
        match self.kind {
            ListKind::Parameters => {
                Row::from([("kind", ParameterKind::Text.as_str().to_owned()), ("required", "yes".to_owned())])
            }
            ListKind::Sources | ListKind::Variables => Row::new(),
        }
    }

    /// True if the page shows an empty row instead of none.
    pub(super) fn begins_with_row(&self) -> bool {
        self.kind == ListKind::Sources
    }

    /// True if the page can check a row.
    pub(super) fn has_check(&self) -> bool {
        self.kind == ListKind::Sources
    }

    /// True if all text parts of the row are empty.
    pub(super) fn is_blank(&self, row: &Row) -> bool {
        let is_typed = |column: &&Column| !matches!(column.codec, Codec::Choice(_) | Codec::Checkbox);
        let mut typed = self.columns.iter().filter(is_typed);
        typed.all(|column| row.get(column.name).is_none_or(|text| text.trim().is_empty()))
    }

    pub(super) fn rows(&self, value: &Value) -> Vec<Row> {
        let row = |entry: &Value| {
            let text = |column: &Column| {
                (column.name, entry.get(column.name).map(|value| column.codec.format(value)).unwrap_or_default())
            };
            self.columns.iter().map(text).collect()
        };
        match value {
            Value::Array(entries) => entries.iter().map(row).collect(),
            Value::Object(values) => {
                values.iter().map(|(name, value)| row(&json!({ "name": name, "value": value }))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Parses the rows; `None` without an entry.
    pub(super) fn parse(&self, t: Language, rows: &[Row]) -> (Option<Value>, RowErrors) {
        let mut errors = RowErrors::new();
        let mut entries = Vec::new();
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| !self.is_blank(row)) {
            let mut entry = JsonObject::new();
            for column in self.columns {
                match column.codec.parse(t, row.get(column.name).map_or("", String::as_str)) {
                    Ok(Some(value)) => drop(entry.insert(column.name.to_owned(), value)),
                    Ok(None) => {}
                    Err(wrong) => errors.push((number, column.name, wrong)),
                }
            }
            match self.kind {
                ListKind::Sources => complete_source(&mut entry),
                ListKind::Parameters => complete_parameter(&mut entry, number),
                ListKind::Variables => {}
            }
            entries.push((number, entry));
        }
        if entries.is_empty() {
            return (None, errors);
        }
        let value = match self.kind {
            ListKind::Variables => variables(t, entries, &mut errors),
            ListKind::Sources | ListKind::Parameters => entries.into_iter().map(|(_, entry)| entry).collect(),
        };
        (Some(value), errors)
    }

    /// Returns the number of the row and the column of an error. `rest` is its location in the value.
    pub(super) fn place(&self, rows: &[Row], rest: &str, error: &FieldError) -> Option<(usize, &'static str)> {
        let mut filled = rows.iter().enumerate().filter(|(_, row)| !self.is_blank(row));
        let (entry, below) = rest.split_once('/').unwrap_or((rest, ""));
        if self.kind == ListKind::Variables {
            let name = unescaped(entry);
            let (number, _) = filled.find(|(_, row)| row.get("name").is_some_and(|typed| typed.trim() == name))?;
            return Some((number, if error.rule == FieldRule::VariableValue { "value" } else { "name" }));
        }
        let (number, _) = filled.nth(entry.parse().ok()?)?;
        let name = below.split('/').next().unwrap_or_default();
        let column = self.columns.iter().find(|column| column.name == name).or(self.columns.first())?;
        Some((number, column.name))
    }
}

/// Endings of archives, which the name of a folder omits.
const ARCHIVES: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];

fn is_archive(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| path.ends_with(ending))
}

/// Adds the kind of a source, and the folder of its files: the last segment of the address, without the ending of a
/// repository or an archive.
fn complete_source(source: &mut JsonObject) {
    let url = source.entry("url").or_insert_with(|| "".into()).as_str().unwrap_or_default().to_owned();
    let is_archive = source.contains_key("sha256") || is_archive(&url);
    let kind = if is_archive { MaterialKind::Archive } else { MaterialKind::Git };
    source.insert("kind".to_owned(), kind.as_str().into());
    let parsed = SourceUrl::parse(&url);
    let name = parsed.as_ref().and_then(SourceUrl::repository_name).unwrap_or_default();
    let target = ARCHIVES.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    // Without a target, the error of the address would be repeated at the folder.
    let target = if parsed.is_none() { "material" } else { target };
    source.entry("target").or_insert_with(|| target.into());
}

/// Adds the name of the variable, and removes the parts that do not belong to the kind.
fn complete_parameter(parameter: &mut JsonObject, number: usize) {
    use ParameterKind::{Choice, Number, Secret, Text};
    let text = |name: &str| parameter.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = ParameterKind::parse(text("kind"));
    let label = slug_of(text("label")).unwrap_or_default().replace('-', "_").to_ascii_uppercase();
    let is_name = label.starts_with(|first: char| first.is_ascii_alphabetic());
    let name = if is_name { label } else { format!("QUESTION_{}", number + 1) };
    parameter.entry("name").or_insert_with(|| name.into());
    let parts: [(&str, &[ParameterKind]); 6] = [
        ("choices", &[Choice]),
        ("min", &[Number]),
        ("max", &[Number]),
        ("integer", &[Number]),
        ("max_length", &[Text, Secret]),
        ("default", &[Text, Choice, Number]),
    ];
    for (part, kinds) in parts {
        if kind.is_some_and(|kind| !kinds.contains(&kind)) {
            parameter.remove(part);
        }
    }
}

fn variables(t: Language, entries: Vec<(usize, JsonObject)>, errors: &mut RowErrors) -> Value {
    let mut values = JsonObject::new();
    for (number, mut entry) in entries {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let value = entry.remove("value").unwrap_or_else(|| "".into());
        if values.insert(name.clone(), value).is_some() {
            errors.push((number, "name", t.with_one("editor-second-time", "name", &*name)));
        }
    }
    values.into()
}

#[cfg(test)]
mod tests {
    use launcher_domain::Parameter;
    use launcher_domain::template::MaterialSource;

    use super::*;

    #[test]
    fn each_field_of_an_entry_is_a_part_of_its_row() {
        for (list, fields) in [(&SOURCES, MaterialSource::FIELDS), (&PARAMETERS, Parameter::FIELDS)] {
            for field in fields {
                let has_part = list.columns.iter().any(|column| column.name == *field);
                // The address says the kind of a source.
                assert_eq!(has_part, *field != "kind" || list.kind != ListKind::Sources, "{field}");
            }
        }
    }
}
