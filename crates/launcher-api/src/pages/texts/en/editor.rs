//! The list of templates, and the editor.

/// Above an empty form, and leads to it.
pub(crate) const NEW_TEMPLATE: &str = "New template";
/// The heads of the list: the app, and its image.
pub(crate) const APP_AND_IMAGE: &str = "App and image";
/// Whether people can launch it.
pub(crate) const IN_CATALOG: &str = "In the catalog";
/// They can.
pub(crate) const YES: &str = "Yes";
/// They cannot.
pub(crate) const ARCHIVED: &str = "Archived";
/// When it was saved last.
pub(crate) const CHANGED: &str = "Changed";
/// The head of the column of buttons.
pub(crate) const ACTIONS: &str = "Actions";
/// Opens the editor.
pub(crate) const EDIT: &str = "Edit";
/// Opens the editor for another one like it.
pub(crate) const DUPLICATE: &str = "Duplicate";
/// Takes it out of the catalog.
pub(crate) const ARCHIVE: &str = "Archive";
/// Takes it back in.
pub(crate) const RESTORE: &str = "Restore";

/// Whose it is.
pub(crate) fn created_by(email: Option<&str>) -> String {
    format!("created by {}", email.unwrap_or("the service"))
}

/// The name of a template that is made of another one.
pub(crate) fn copy_of(name: &str) -> String {
    format!("Copy of {name}")
}

/// Leads from the editor to the list.
pub(crate) const ALL_TEMPLATES: &str = "All templates";
/// Saves a new template.
pub(crate) const CREATE: &str = "Create template";
/// Saves one that there is.
pub(crate) const SAVE: &str = "Save changes";
/// Shows it, and saves nothing.
pub(crate) const SHOW_PREVIEW: &str = "Preview";
/// Saves it, and leads to where it is launched.
pub(crate) const SAVE_AND_TRY: &str = "Save and try it";
/// Saves nothing.
pub(crate) const CANCEL: &str = "Cancel";
/// Above what people would see of a template.
pub(crate) const PREVIEW_TITLE: &str = "Preview";
/// What it is.
pub(crate) const PREVIEW: &str = "Nothing is saved yet. This is its card in the catalog, and what its own page says.";
/// Somebody else saved the template first.
pub(crate) const CONFLICT_TITLE: &str = "Somebody else changed this template while you were editing it.";
/// What to do about it.
pub(crate) const CONFLICT: &str = "Nothing was saved yet; what you typed is below. To see the other changes, open this \
                                   page in a second tab. Saving again replaces them with yours.";
/// Above a form that was not accepted.
pub(crate) const FORM_HAS_ERRORS: &str = "Nothing was saved. Please correct:";
/// Not one of the kinds.
pub(crate) const NOT_A_KIND: &str = "Choose one of the kinds.";
/// Not one of the profiles.
pub(crate) const NOT_A_PROFILE: &str = "Choose one of the profiles.";
/// Not digits.
pub(crate) const NOT_A_NUMBER: &str = "A whole number.";

/// What is wrong with a field, as a sentence. English has the rules' own words, as the API says them.
pub(crate) fn wrong(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with('.') { sentence } else { format!("{sentence}.") }
}

/// Which word of several is wrong; what is wrong with it follows.
pub(crate) fn wrong_word(number: usize, wrong: &str) -> String {
    format!("Word {number}: {wrong}")
}

/// A line of variables that is none.
pub(crate) fn not_a_variable(line: usize) -> String {
    format!("Line {line} has no =: write NAME=value.")
}

/// A variable that is there twice.
pub(crate) fn second_time(line: usize, name: &str) -> String {
    format!("Line {line} sets {name} a second time.")
}

/// A line that starts as a JSON string, and is none.
pub(crate) fn not_json(line: usize) -> String {
    format!(
        "Line {line} starts with a quotation mark and is not a JSON string: end it with one, and write \\\" for a \
         quotation mark and \\n for a line break inside."
    )
}
