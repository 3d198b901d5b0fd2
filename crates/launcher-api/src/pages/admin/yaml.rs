//! Formats and parses the pod template of a template as YAML in a `<textarea>`. JSON is YAML, too.

use launcher_domain::PodTemplateObject;
use serde_json::Value;

use crate::pages::language::Language;

/// Text that is not a YAML object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum YamlError {
    /// The text is not YAML. `message` is the parser's English sentence.
    Unreadable { line: u64, message: String },
    /// The text is YAML, but not an object.
    NotAnObject,
}

impl YamlError {
    /// Returns the error as a sentence.
    pub(crate) fn text(&self, t: Language) -> String {
        match self {
            Self::Unreadable { line, message } => {
                t.with("editor-not-yaml", [("line", (*line).to_string().into()), ("message", message.as_str().into())])
            }
            Self::NotAnObject => t.text("editor-not-a-yaml-object").into_owned(),
        }
    }
}

/// Formats a pod template as YAML. Uses JSON if the parser would not read the YAML as the same object.
pub(crate) fn format(object: &PodTemplateObject) -> String {
    let is_lossless = |text: &String| matches!(parse(text), Ok(Some(read)) if read == *object);
    let yaml = serde_saphyr::to_string(object).ok().filter(is_lossless);
    yaml.unwrap_or_else(|| Value::from(object.clone()).to_string())
}

/// Parses a pod template. Returns `None` for a text without a value.
///
/// # Errors
/// The first line that is not YAML, or a value that is not an object.
pub(crate) fn parse(text: &str) -> Result<Option<PodTemplateObject>, YamlError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match serde_saphyr::from_str(text) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err(YamlError::NotAnObject),
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line());
            let message = error.without_snippet().to_string();
            Err(YamlError::Unreadable { line, message: message.lines().next().unwrap_or_default().to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> PodTemplateObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn pod_template_round_trips_through_form() {
        let texts = [
            r#"{"spec": {"tolerations": [{"key": "a", "operator": "Exists"}], "nodeSelector": {"zone": "1"}}}"#,
            r#"{"a": "true", "b": "1e3", "c": "null", "d": "~", "e": " x ", "f": "a\nb\n", "g": "", "h": "- x", "i": "0o7"}"#,
            r#"{"a": "a: b # c", "b": "\t", "c": "\r\n", "d": "'\"", "e": {}, "f": [], "g": [[1], [true]], "yes": "no"}"#,
            r#"{"script": "set -e\n  echo $(A) \\ \n\n", "long": "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 012345"}"#,
        ];
        for text in texts {
            let wanted = object(text);
            let sent = format(&wanted).replace('\n', "\r\n");
            assert_eq!(parse(&sent), Ok(Some(wanted)), "{sent}");
        }
    }

    #[test]
    fn text_that_is_not_an_object_is_refused() {
        assert_eq!(parse(" \n"), Ok(None));
        assert_eq!(parse("# a comment\n"), Ok(None));
        assert_eq!(parse("- a"), Err(YamlError::NotAnObject));
        for (text, number) in [("a: 1\nb: [", 2), ("a: 1\na: 2", 2), ("a: b: c", 1), ("a: *b", 1)] {
            let Err(YamlError::Unreadable { line, message }) = parse(text) else { panic!("{text}") };
            assert_eq!((line, message.is_empty(), message.contains('\n')), (number, false, false), "{message}");
        }
    }

    #[test]
    fn nested_aliases_do_not_exhaust_memory() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let last = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![last; 10].join(", "));
        }
        assert!(parse(&text).is_err());
    }
}
