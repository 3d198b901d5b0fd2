//! Parses the pod template of a template as YAML in a `<textarea>`. JSON is YAML, too.

use launcher_domain::{JsonObject, TextKey};
use launcher_service::{YamlError, from_yaml};
use serde_json::Value;

use crate::pages::admin::lines::wrong;

/// Parses a pod template. Returns `None` for a text without a value.
///
/// # Errors
/// The first line that is not YAML, or a value that is not an object.
pub(super) fn parse(text: &str) -> Result<Option<JsonObject>, TextKey> {
    let read = from_yaml(text)
        .map_err(|YamlError { line, message }| wrong("editor-not-yaml", [("line", &line), ("message", &message)]))?;
    match read {
        Value::Object(object) => Ok(Some(object)),
        Value::Null => Ok(None),
        _ => Err(wrong("editor-not-a-yaml-object", [])),
    }
}

#[cfg(test)]
mod tests {
    use launcher_service::to_yaml;

    use super::*;

    fn object(json: &str) -> JsonObject {
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
            let sent = to_yaml(&wanted).replace('\n', "\r\n");
            assert_eq!(parse(&sent), Ok(Some(wanted)), "{sent}");
        }
    }

    #[test]
    fn text_that_is_not_an_object_is_refused() {
        assert_eq!(parse(" \n"), Ok(None));
        assert_eq!(parse("# a comment\n"), Ok(None));
        assert_eq!(parse("- a"), Err(wrong("editor-not-a-yaml-object", [])));
        for (text, number) in [("a: 1\nb: [", "2"), ("a: 1\na: 2", "2"), ("a: b: c", "1"), ("a: *b", "1")] {
            let TextKey { key, args } = parse(text).unwrap_err();
            let (line, message) = (&args["line"], &args["message"]);
            assert_eq!((&*key, &**line), ("editor-not-yaml", number), "{text}");
            assert_eq!((message.is_empty(), message.contains('\n')), (false, false), "{message}");
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

    #[test]
    fn any_yaml_is_read_again_or_refused() {
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), "any_yaml_is_read_again_or_refused", 20_000, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(Some(read)) = parse(&text) {
                assert_eq!(parse(&to_yaml(&read)), Ok(Some(read)), "{text}");
            }
        });
    }
}
