//! Fields of the JSON objects that an admin writes. One declaration of an object ([`json_object`]) gives its Rust type,
//! its reader, which reports all errors, and its JSON schema.

use serde_json::{Map, Value, json};

use super::rule::FieldRule;
use crate::coded_text::TextKey;

/// A JSON object, as an admin writes it.
pub type JsonObject = Map<String, Value>;

/// One invalid field of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Location of the field: a JSON pointer (RFC 6901), such as `/env/PATH`.
    pub pointer: String,
    /// The rule that the value breaks.
    pub rule: FieldRule,
}

impl FieldError {
    /// Creates an error at a JSON pointer.
    #[must_use]
    pub fn new(pointer: impl Into<String>, rule: FieldRule) -> Self {
        Self { pointer: pointer.into(), rule }
    }

    /// Returns the rule as an English phrase. The API sends it.
    #[must_use]
    pub fn detail(&self) -> String {
        self.rule.to_string()
    }

    /// Returns the key of the rule for translators: `field-rule-<code>`, with the rule's arguments.
    #[must_use]
    pub fn key(&self) -> TextKey {
        self.rule.key()
    }
}

/// Collects all errors: reading continues after an error, so that an admin sees all errors at once.
#[derive(Debug, Default)]
pub(crate) struct Errors(pub(crate) Vec<FieldError>);

impl Errors {
    pub(crate) fn add(&mut self, pointer: impl Into<String>, rule: FieldRule) {
        self.0.push(FieldError::new(pointer, rule));
    }

    pub(crate) fn check(&mut self, holds: bool, pointer: &str, rule: FieldRule) {
        if !holds {
            self.add(pointer, rule);
        }
    }

    /// Adds the error, unless the field has one already: its value is then a substitute.
    pub(crate) fn add_first(&mut self, pointer: &str, rule: FieldRule) {
        if !self.has(pointer) {
            self.add(pointer, rule);
        }
    }

    /// True if there is an error at this pointer or below.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        let is_at = |error: &FieldError| {
            error.pointer.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().any(is_at)
    }

    /// Returns the value that was read, or all errors.
    pub(crate) fn outcome<T>(self, read: Option<T>) -> Result<T, Vec<FieldError>> {
        read.filter(|_| self.0.is_empty()).ok_or(self.0)
    }

    /// Reports a value of the wrong JSON type. Returns `None`.
    pub(crate) fn wrong_type<T>(&mut self, at: &str, rule: FieldRule) -> Option<T> {
        self.add(at, rule);
        None
    }
}

/// Reader of a JSON schema's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Writer of a request: fields with a default may be absent.
    Request,
    /// Reader of a response: all fields are present.
    Response,
}

/// Rule of a value: reads and checks it, and describes it.
pub(crate) trait Codec {
    type Value;

    /// Reads a value, and reports its errors at `at`, a JSON pointer. After an error, the result is meaningless: it only
    /// lets the checks of other fields continue. `None` if there is no such value.
    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Self::Value>;

    /// Returns a value that lets the checks of other fields continue if a field without a default is absent or wrong.
    fn substitute() -> Option<Self::Value> {
        None
    }

    /// Returns the JSON schema (2020-12) of the value.
    fn schema(audience: Audience) -> Value;
}

impl Codec for bool {
    type Value = Self;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Self> {
        json.as_bool().or_else(|| errors.wrong_type(at, FieldRule::Boolean))
    }

    fn substitute() -> Option<Self> {
        Some(false)
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "boolean" })
    }
}

pub(crate) fn text<'j>(json: &'j Value, at: &str, errors: &mut Errors) -> Option<&'j str> {
    json.as_str().or_else(|| errors.wrong_type(at, FieldRule::Text))
}

pub(crate) fn integer(json: &Value, at: &str, errors: &mut Errors) -> Option<i64> {
    json.as_i64().or_else(|| errors.wrong_type(at, FieldRule::Integer))
}

/// Reads the items of a list, each at its index. `None` if an item has no value.
pub(crate) fn items<C: Codec>(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<C::Value>> {
    let Some(items) = json.as_array() else { return errors.wrong_type(at, FieldRule::List) };
    let read = |(index, item)| C::read(item, &format!("{at}/{index}"), errors);
    let items: Vec<_> = items.iter().enumerate().map(read).collect();
    items.into_iter().collect()
}

/// Returns the JSON pointer of a field of the object at `at`.
#[must_use]
pub fn join(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Reports fields that an object does not have.
pub(crate) fn refuse_unknown(object: &JsonObject, at: &str, errors: &mut Errors, fields: &[&str]) {
    for field in object.keys().filter(|name| !fields.contains(&name.as_str())) {
        errors.add(join(at, field), FieldRule::FieldUnknown { fields: fields.join(", ") });
    }
}

/// Reads the fields of an object, and reports unknown ones.
pub(crate) struct Reader<'r> {
    object: &'r JsonObject,
    at: &'r str,
    errors: &'r mut Errors,
}

/// The kinds of fields. [`Describer`] has the same functions.
impl<'r> Reader<'r> {
    /// Begins to read an object with these fields.
    pub(crate) fn new(json: &'r Value, at: &'r str, errors: &'r mut Errors, fields: &[&str]) -> Option<Self> {
        let Some(object) = json.as_object() else {
            errors.add(at, FieldRule::Object);
            return None;
        };
        refuse_unknown(object, at, errors, fields);
        Some(Self { object, at, errors })
    }

    fn given(&self, name: &str) -> Option<&'r Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn value<C: Codec>(&mut self, name: &str, value: &Value) -> Option<C::Value> {
        C::read(value, &join(self.at, name), self.errors)
    }

    /// Reads a field that must be present.
    pub(crate) fn required<C: Codec>(&mut self, name: &str) -> Option<C::Value> {
        let Some(value) = self.object.get(name) else {
            self.errors.add(join(self.at, name), FieldRule::FieldMissing);
            return C::substitute();
        };
        self.value::<C>(name, value).or_else(C::substitute)
    }

    /// Reads a field with a default.
    pub(crate) fn defaulted<C: Codec>(&mut self, name: &str, default: Value) -> Option<C::Value> {
        let value = self.object.get(name).unwrap_or(&default);
        self.value::<C>(name, value).or_else(|| C::read(&default, self.at, &mut Errors::default()))
    }

    /// Reads a field with a default, which also replaces `null`.
    pub(crate) fn nullable<C: Codec>(&mut self, name: &str, default: Value) -> Option<C::Value> {
        let value = self.given(name).unwrap_or(&default);
        self.value::<C>(name, value).or_else(|| C::read(&default, self.at, &mut Errors::default()))
    }

    /// Reads a field that may be absent or `null`.
    #[expect(clippy::unnecessary_wraps, reason = "the functions of the other kinds return the same type")]
    pub(crate) fn optional<C: Codec>(&mut self, name: &str) -> Option<Option<C::Value>> {
        Some(self.given(name).and_then(|value| self.value::<C>(name, value)))
    }

    /// Reads a text that may be absent, `null` or blank.
    pub(crate) fn optional_text<C: Codec>(&mut self, name: &str) -> Option<Option<C::Value>> {
        let is_blank = self.given(name).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
        if is_blank { Some(None) } else { self.optional::<C>(name) }
    }

    /// Reads a field whose default depends on other fields. The default is there already.
    pub(crate) fn filled<C: Codec>(&mut self, name: &str, _: &str) -> Option<C::Value> {
        self.required::<C>(name)
    }

    /// Reads a field whose default depends on other fields. The default is there already, unless there is none: then
    /// the field breaks the rule `missing`.
    pub(crate) fn computed<C: Codec>(&mut self, name: &str, missing: FieldRule, _: &str) -> Option<C::Value> {
        let Some(value) = self.given(name) else {
            self.errors.add(join(self.at, name), missing);
            return C::substitute();
        };
        self.value::<C>(name, value).or_else(C::substitute)
    }
}

/// Describes the fields of an object as a JSON schema. See [`Reader`].
pub(crate) struct Describer {
    audience: Audience,
    properties: JsonObject,
    required: Vec<&'static str>,
}

impl Describer {
    pub(crate) fn new(audience: Audience) -> Self {
        Self { audience, properties: JsonObject::new(), required: Vec::new() }
    }

    fn add<C: Codec>(&mut self, name: &'static str, about: &str, change: impl FnOnce(&mut Value)) {
        let mut schema = C::schema(self.audience);
        schema["description"] = sentence(about).into();
        match self.audience {
            Audience::Request => change(&mut schema),
            Audience::Response => self.required.push(name),
        }
        self.properties.insert(name.to_owned(), schema);
    }

    pub(crate) fn required<C: Codec>(&mut self, name: &'static str, about: &str) {
        self.add::<C>(name, about, |_| ());
        if self.audience == Audience::Request {
            self.required.push(name);
        }
    }

    pub(crate) fn defaulted<C: Codec>(&mut self, name: &'static str, about: &str, default: Value) {
        self.add::<C>(name, about, |schema| schema["default"] = default);
    }

    pub(crate) fn nullable<C: Codec>(&mut self, name: &'static str, about: &str, default: Value) {
        let shown = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        self.add::<C>(name, &format!("{} Default: {shown}.", sentence(about)), |schema| {
            schema["examples"] = json!([default]);
            or_null(schema);
        });
    }

    pub(crate) fn optional<C: Codec>(&mut self, name: &'static str, about: &str) {
        self.add::<C>(name, about, |_| ());
        self.properties.get_mut(name).into_iter().for_each(or_null);
    }

    pub(crate) fn optional_text<C: Codec>(&mut self, name: &'static str, about: &str) {
        self.optional::<C>(name, about);
    }

    pub(crate) fn computed<C: Codec>(&mut self, name: &'static str, about: &str, _: FieldRule, default: &str) {
        self.filled::<C>(name, about, default);
    }

    pub(crate) fn filled<C: Codec>(&mut self, name: &'static str, about: &str, default: &str) {
        self.add::<C>(name, about, |schema| {
            schema["description"] = format!("{} {default}", sentence(about)).into();
            or_null(schema);
        });
    }

    /// Returns the schema of the object.
    pub(crate) fn schema(self, about: &str) -> Value {
        let mut schema = json!({ "type": "object", "description": sentence(about), "properties": self.properties });
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        if self.audience == Audience::Request {
            schema["additionalProperties"] = false.into();
        }
        schema
    }
}

/// Returns a doc comment as one line.
fn sentence(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Changes a schema so that it also accepts `null`.
fn or_null(schema: &mut Value) {
    if schema.get("enum").is_none() && schema["type"].is_string() {
        schema["type"] = json!([schema["type"], "null"]);
        return;
    }
    let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    *schema = json!({ "anyOf": [schema.take(), { "type": "null" }], "description": about });
}

/// Declares a JSON object that an admin writes: a struct whose fields each have a type, a kind (a function of [`Reader`])
/// and a [`Codec`]. The doc comments are the descriptions in the JSON schema. The macro adds a `Codec` of the object, and
/// `FIELDS`: the names of the fields in JSON. With `Default`, stored JSON may omit fields.
macro_rules! json_object {
    (
        $(#[doc = $about:literal])+
        $(#[derive($default:ident)] #[serde(default)])?
        pub struct $name:ident {
            $(
                $(#[doc = $field_about:literal])+
                $field:ident $(as $key:literal)?: $type:ty = $kind:ident($codec:ty $(, $argument:expr)*),
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[derive($default)] #[serde(default)])?
        pub struct $name {
            $(
                $(#[doc = $field_about])+
                $(#[serde(rename = $key)])?
                pub $field: $type,
            )+
        }

        impl $name {
            /// Names of the fields in JSON, in the order of the API.
            pub const FIELDS: &'static [&'static str] = &[$($crate::template::field::key!($field $($key)?)),+];
        }

        impl $crate::template::field::Codec for $name {
            type Value = Self;

            fn read(
                json: &serde_json::Value,
                at: &str,
                errors: &mut $crate::template::field::Errors,
            ) -> Option<Self> {
                let mut object = $crate::template::field::Reader::new(json, at, errors, Self::FIELDS)?;
                $(let $field = object.$kind::<$codec>($crate::template::field::key!($field $($key)?) $(, $argument)*);)+
                Some(Self { $($field: $field?),+ })
            }

            fn schema(audience: $crate::template::field::Audience) -> serde_json::Value {
                let mut object = $crate::template::field::Describer::new(audience);
                $(object.$kind::<$codec>(
                    $crate::template::field::key!($field $($key)?),
                    concat!($($field_about),+)
                    $(, $argument)*
                );)+
                object.schema(concat!($($about),+))
            }
        }
    };
}

/// Returns the name of a field in JSON: the given one, or the one in Rust.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {json_object, key};
