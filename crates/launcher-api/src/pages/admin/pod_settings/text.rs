//! Values of the settings as people type them.

use std::collections::BTreeMap;

use launcher_domain::TextKey;
use launcher_domain::input::parse_memory;
use serde_json::Value;

use super::Setting;
use crate::pages::admin::lines::{self, wrong};

/// Maximum number of GPUs of one workshop.
const MAX_GPUS: u8 = 64;
const MAX_OBJECT_NAME: usize = 253;

impl Setting {
    /// Returns the value as text of the field; `None` for a value of another type.
    pub(crate) fn text(self, value: &Value) -> Option<String> {
        match (self, value) {
            (Self::NodeSelector, value) => Some(lines::from_labels(&labels(value)?)),
            (_, Value::String(text)) => Some(text.clone()),
            (Self::ImagePullSecret, _) => None,
            (_, Value::Number(number)) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Parses the text of the field.
    ///
    /// # Errors
    /// The reason, for a text that is not a value of this setting.
    pub(crate) fn parse(self, text: &str) -> Result<Value, TextKey> {
        match self {
            Self::SharedMemory | Self::EphemeralStorage => {
                parse_memory(text).map(|size| size.as_str().into()).map_err(|_| wrong("editor-not-a-size", []))
            }
            Self::Gpus => {
                let count = text.trim().parse::<u8>().ok().filter(|count| *count <= MAX_GPUS);
                count.map(Value::from).ok_or_else(|| wrong("editor-not-a-gpu-count", [("most", &MAX_GPUS)]))
            }
            Self::ImagePullSecret if is_object_name(text.trim()) => Ok(text.trim().into()),
            Self::ImagePullSecret => Err(wrong("editor-not-a-secret-name", [])),
            Self::NodeSelector => {
                let labels = lines::to_labels(text)?;
                Ok(labels.into_iter().map(|(name, value)| (name, Value::from(value))).collect())
            }
        }
    }

    /// Returns the value as the field would save it; `None` if this value differs by more than its notation.
    pub(super) fn readable(self, value: &Value) -> Option<Value> {
        let text = self.text(value)?;
        let read = self.parse(&text).ok()?;
        let is_same = if value.is_object() { read == *value } else { self.text(&read)? == text };
        is_same.then_some(read)
    }
}

/// Returns the labels of a node selector; `None` if a value is not a text, or a key does not fit on a line.
fn labels(value: &Value) -> Option<BTreeMap<String, String>> {
    let labels = value.as_object()?.iter().map(|(name, value)| {
        let is_on_one_line = !name.chars().any(char::is_control);
        is_on_one_line.then_some((name.clone(), value.as_str()?.to_owned()))
    });
    labels.collect()
}

fn is_object_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=MAX_OBJECT_NAME).contains(&text.len()) && text.bytes().all(|byte| is_plain(byte) || b"-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_values_of_kubernetes() {
        for (setting, text, value) in [
            (Setting::SharedMemory, "1 GB", json!("1G")),
            (Setting::SharedMemory, "512Mi", json!("512Mi")),
            (Setting::EphemeralStorage, " 1.5 gib ", json!("1.5Gi")),
            (Setting::Gpus, " 2 ", json!(2)),
            (Setting::Gpus, "0", json!(0)),
            (Setting::ImagePullSecret, " my.registry-1\r\n", json!("my.registry-1")),
            (Setting::NodeSelector, "a = b\r\n\r\nexample.org/c=\r\n", json!({ "a": "b", "example.org/c": "" })),
        ] {
            assert_eq!(setting.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn invalid_texts_are_refused() {
        for (setting, text, error) in [
            (Setting::SharedMemory, "1", wrong("editor-not-a-size", [])),
            (Setting::EphemeralStorage, "500m", wrong("editor-not-a-size", [])),
            (Setting::EphemeralStorage, "0 GB", wrong("editor-not-a-size", [])),
            (Setting::Gpus, "65", wrong("editor-not-a-gpu-count", [("most", &64)])),
            (Setting::Gpus, "-1", wrong("editor-not-a-gpu-count", [("most", &64)])),
            (Setting::Gpus, "0.5", wrong("editor-not-a-gpu-count", [("most", &64)])),
            (Setting::ImagePullSecret, "a, b", wrong("editor-not-a-secret-name", [])),
            (Setting::NodeSelector, "\na=b\nc", wrong("editor-not-a-label", [("line", &3)])),
            (Setting::NodeSelector, "a=1\na=2", wrong("editor-repeated-label", [("line", &2), ("name", &"a")])),
        ] {
            assert_eq!(setting.parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn value_in_other_notation_is_readable() {
        assert_eq!(Setting::Gpus.readable(&json!("1")), Some(json!(1)));
        assert_eq!(Setting::SharedMemory.readable(&json!(1_073_741_824)), Some(json!("1073741824")));
        assert_eq!(Setting::SharedMemory.readable(&json!("1GiB")), None);
        assert_eq!(Setting::NodeSelector.readable(&json!({ " a": "b" })), None);
        assert_eq!(Setting::NodeSelector.readable(&json!({ "a\rb": "c" })), None);
        let quoted = json!({ "a": "\"b\nc" });
        assert_eq!(Setting::NodeSelector.readable(&quoted), Some(quoted));
    }
}
