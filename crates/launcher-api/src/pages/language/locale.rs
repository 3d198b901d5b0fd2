//! The folders of `locales/`, embedded in the program.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use fluent_syntax::ast::Pattern;
use include_dir::{Dir, include_dir};
use unic_langid::{CharacterDirection, LanguageIdentifier};

static FOLDERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/locales");

/// All languages, sorted by code.
pub(super) static LOCALES: LazyLock<Vec<Locale>> = LazyLock::new(|| {
    let mut locales: Vec<Locale> = FOLDERS.dirs().filter_map(Locale::read).collect();
    locales.sort_by_key(|locale| locale.code);
    locales
});

/// The default language. It has no messages if the folder is missing, which a test excludes.
pub(super) static ENGLISH: LazyLock<Locale> =
    LazyLock::new(|| FOLDERS.get_dir("en").and_then(Locale::read).unwrap_or_else(|| Locale::empty("en")));

/// A language with its messages and documents.
pub(super) struct Locale {
    /// Code of the language (BCP 47).
    pub(super) code: &'static str,
    pub(super) id: LanguageIdentifier,
    bundle: FluentBundle<FluentResource>,
    folder: Option<&'static Dir<'static>>,
}

impl Locale {
    fn empty(code: &'static str) -> Self {
        let id = LanguageIdentifier::default();
        Self { code, bundle: FluentBundle::new_concurrent(vec![id.clone()]), id, folder: None }
    }

    /// Reads a folder; `None` if its name is not a language code. A message that cannot be parsed is missing, which a
    /// test excludes.
    fn read(folder: &'static Dir<'static>) -> Option<Self> {
        let code = folder.path().file_name()?.to_str()?;
        let id: LanguageIdentifier = code.parse().ok()?;
        let mut bundle = FluentBundle::new_concurrent(vec![id.clone()]);
        // Insert invisible direction marks around values only in right-to-left languages. Other languages do not need
        // them, and a reader would copy them with the text.
        bundle.set_use_isolating(id.character_direction() == CharacterDirection::RTL);
        for file in folder.files().filter(|file| file.path().extension().is_some_and(|kind| kind == "ftl")) {
            let source = file.contents_utf8().unwrap_or_default().to_owned();
            let resource = FluentResource::try_new(source).unwrap_or_else(|(resource, _)| resource);
            // The only error is a message that exists already: the first one stays, which a test excludes.
            let _ = bundle.add_resource(resource);
        }
        Some(Self { code, id, bundle, folder: Some(folder) })
    }

    pub(super) fn direction(&self) -> &'static str {
        if self.id.character_direction() == CharacterDirection::RTL { "rtl" } else { "ltr" }
    }

    /// Returns the pattern of a message or of its attribute.
    pub(super) fn pattern(&self, key: &str, attribute: Option<&str>) -> Option<&Pattern<&str>> {
        let message = self.bundle.get_message(key)?;
        match attribute {
            None => message.value(),
            Some(name) => message.get_attribute(name).map(|attribute| attribute.value()),
        }
    }

    /// Formats a message or its attribute; `None` if it is missing.
    pub(super) fn format(
        &'static self,
        key: &str,
        attribute: Option<&str>,
        values: Option<&FluentArgs<'_>>,
    ) -> Option<Cow<'static, str>> {
        let pattern = self.pattern(key, attribute)?;
        let mut errors = Vec::new();
        let text = match values {
            None => self.bundle.format_pattern(pattern, None, &mut errors),
            Some(_) => self.bundle.format_pattern(pattern, values, &mut errors).into_owned().into(),
        };
        Some(text)
    }

    /// Returns a document in Markdown.
    pub(super) fn document(&self, name: &str) -> Option<&'static str> {
        let folder = self.folder?;
        folder.get_file(folder.path().join(format!("{name}.md")))?.contents_utf8()
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Locale").field(&self.code).finish()
    }
}
