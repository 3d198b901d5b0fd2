//! The list of templates, and the editor.

/// Heading of an empty form, and link to it.
pub(crate) const NEW_TEMPLATE: &str = "New template";
/// Column head: the app, and its image.
pub(crate) const APP_AND_IMAGE: &str = "App and image";
/// Column head: catalog state.
pub(crate) const IN_CATALOG: &str = "In the catalog";
/// In the catalog.
pub(crate) const YES: &str = "Yes";
/// Not in the catalog.
pub(crate) const ARCHIVED: &str = "Archived";
/// Column head: time of the last change.
pub(crate) const CHANGED: &str = "Changed";
/// The head of the column of buttons.
pub(crate) const ACTIONS: &str = "Actions";
/// Opens the editor.
pub(crate) const EDIT: &str = "Edit";
/// Opens the editor with a copy of the template.
pub(crate) const DUPLICATE: &str = "Duplicate";
/// Removes the template from the catalog.
pub(crate) const ARCHIVE: &str = "Archive";
/// Puts the template back into the catalog.
pub(crate) const RESTORE: &str = "Restore";

/// Author of a template.
pub(crate) fn created_by(email: Option<&str>) -> String {
    format!("created by {}", email.unwrap_or("the service"))
}

/// Name of a template's copy.
pub(crate) fn copy_of(name: &str) -> String {
    format!("Copy of {name}")
}

/// Link from the editor to the list.
pub(crate) const ALL_TEMPLATES: &str = "All templates";
/// Saves a new template.
pub(crate) const CREATE: &str = "Create template";
/// Saves an existing template.
pub(crate) const SAVE: &str = "Save changes";
/// Shows a preview, without saving.
pub(crate) const SHOW_PREVIEW: &str = "Preview";
/// Saves the template, and opens its launch page.
pub(crate) const SAVE_AND_TRY: &str = "Save and try it";
/// Leaves the editor without saving.
pub(crate) const CANCEL: &str = "Cancel";
/// Heading of the preview.
pub(crate) const PREVIEW_TITLE: &str = "Preview";
/// Explains the preview.
pub(crate) const PREVIEW: &str = "Nothing is saved yet. This is its card in the catalog, and what its own page says.";
/// Another admin saved the template first.
pub(crate) const CONFLICT_TITLE: &str = "Somebody else changed this template while you were editing it.";
/// Remedy for the conflict.
pub(crate) const CONFLICT: &str = "Nothing was saved yet; what you typed is below. To see the other changes, open this \
                                   page in a second tab. Saving again replaces them with yours.";
/// Heading of a form with errors.
pub(crate) const FORM_HAS_ERRORS: &str = "Nothing was saved. Please correct:";
/// Invalid app type.
pub(crate) const NOT_A_KIND: &str = "Choose one of the kinds.";
/// Invalid security profile.
pub(crate) const NOT_A_PROFILE: &str = "Choose one of the profiles.";
/// Invalid number.
pub(crate) const NOT_A_NUMBER: &str = "A whole number.";

/// The error of a field, as a sentence. English uses the wording of the domain's rules, as the API does.
pub(crate) fn wrong(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with('.') { sentence } else { format!("{sentence}.") }
}

/// Position of a wrong word in a list, before its error.
pub(crate) fn wrong_word(number: usize, wrong: &str) -> String {
    format!("Word {number}: {wrong}")
}

/// A line without a variable.
pub(crate) fn not_a_variable(line: usize) -> String {
    format!("Line {line} has no =: write NAME=value.")
}

/// A repeated variable.
pub(crate) fn second_time(line: usize, name: &str) -> String {
    format!("Line {line} sets {name} a second time.")
}

/// A line that starts like a JSON string, but is invalid.
pub(crate) fn not_json(line: usize) -> String {
    format!(
        "Line {line} starts with a quotation mark and is not a JSON string: end it with one, and write \\\" for a \
         quotation mark and \\n for a line break inside."
    )
}
