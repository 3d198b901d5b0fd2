//! Texts of the list of templates, and of the editor.

/// Heading of an empty form, and label of the link to it.
pub(crate) const NEW_TEMPLATE: &str = "New template";
/// Column head: the type of the app, and its image.
pub(crate) const APP_AND_IMAGE: &str = "App and image";
/// Column head: whether the template is in the catalog or archived.
pub(crate) const IN_CATALOG: &str = "In the catalog";
/// State of a template that is in the catalog.
pub(crate) const YES: &str = "Yes";
/// State of a template that is not in the catalog.
pub(crate) const ARCHIVED: &str = "Archived";
/// Column head: time of the last change.
pub(crate) const CHANGED: &str = "Changed";
/// Column head: the buttons of a template.
pub(crate) const ACTIONS: &str = "Actions";
/// Link that opens the editor.
pub(crate) const EDIT: &str = "Edit";
/// Link that opens the editor with a copy of the template.
pub(crate) const DUPLICATE: &str = "Duplicate";
/// Button that removes the template from the catalog.
pub(crate) const ARCHIVE: &str = "Archive";
/// Button that puts the template back into the catalog.
pub(crate) const RESTORE: &str = "Restore";

/// Names the author of a template.
pub(crate) fn created_by(email: Option<&str>) -> String {
    format!("created by {}", email.unwrap_or("the service"))
}

/// Returns the name of a template's copy.
pub(crate) fn copy_of(name: &str) -> String {
    format!("Copy of {name}")
}

/// Link from the editor to the list.
pub(crate) const ALL_TEMPLATES: &str = "All templates";
/// Button that saves a new template.
pub(crate) const CREATE: &str = "Create template";
/// Button that saves an existing template.
pub(crate) const SAVE: &str = "Save changes";
/// Button that shows a preview without saving.
pub(crate) const SHOW_PREVIEW: &str = "Preview";
/// Button that saves the template, then opens its launch page.
pub(crate) const SAVE_AND_TRY: &str = "Save and try it";
/// Link that leaves the editor without saving.
pub(crate) const CANCEL: &str = "Cancel";
/// Heading of the preview.
pub(crate) const PREVIEW_TITLE: &str = "Preview";
/// Explains the preview.
pub(crate) const PREVIEW: &str = "Nothing is saved yet. Below are the card in the catalog and the template's page.";
/// Title of the notice if another admin saved the template first.
pub(crate) const CONFLICT_TITLE: &str = "Another administrator changed this template while you edited it.";
/// Text of the notice if another admin saved the template first.
pub(crate) const CONFLICT: &str = "Your changes are not saved yet. They are in the form below. To see the other \
                                   changes, open this page in a second tab. If you save again, your changes replace \
                                   them.";
/// Heading of a form with errors.
pub(crate) const FORM_HAS_ERRORS: &str = "Nothing was saved. Correct these fields:";
/// Error of the field with the app type.
pub(crate) const NOT_A_KIND: &str = "Choose an app type from the list.";
/// Error of the field with the security profile.
pub(crate) const NOT_A_PROFILE: &str = "Choose a profile from the list.";
/// Error of a field that needs a number.
pub(crate) const NOT_A_NUMBER: &str = "Enter a whole number.";

/// Returns the error of a field as a sentence. The English text is the wording of the domain's rules, as in the API.
pub(crate) fn wrong(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with('.') { sentence } else { format!("{sentence}.") }
}

/// Returns the error of one word in a list, with the position of the word.
pub(crate) fn wrong_word(number: usize, wrong: &str) -> String {
    format!("Word {number}: {wrong}")
}

/// Error of a line that is not `NAME=value`.
pub(crate) fn not_a_variable(line: usize) -> String {
    format!("Line {line} has no equals sign. Write NAME=value.")
}

/// Error of a line that repeats a variable.
pub(crate) fn second_time(line: usize, name: &str) -> String {
    format!("Line {line} sets {name} again. Set each variable once.")
}

/// Error of a line that starts with a quotation mark, but is not a JSON string.
pub(crate) fn not_json(line: usize) -> String {
    format!(
        "Line {line} starts with a quotation mark, but is not a JSON string. End it with a quotation mark. Inside, \
         write \\\" for a quotation mark and \\n for a line break."
    )
}
