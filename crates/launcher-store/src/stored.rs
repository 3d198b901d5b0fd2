//! Stored form of values. An unreadable value is [`StoreError::Corrupt`], never a default.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::{
    ActivityAction, Crash, EmailAddress, EndReason, FailureReason, Icon, InstanceSnapshot, InstanceState,
    MaterialReport, StartStep, TemplateSettings,
};
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Encode, Row, Type};
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::{json, text};

/// Text and JSON.
pub(crate) type Text = String;
/// Numbers, times in milliseconds since the epoch, and booleans as 0 or 1.
pub(crate) type Number = i64;

/// Type of a column: [`Text`] or [`Number`].
pub(crate) trait Raw:
    for<'r> Decode<'r, Any> + for<'q> Encode<'q, Any> + Type<Any> + PartialEq + Sized + 'static
{
    /// Returns the value in a form that every engine can store.
    fn storable(self) -> Self;

    /// Returns the identifier that errors name, for a key.
    fn row_id(self) -> Option<Uuid>;
}

impl Raw for Text {
    fn storable(self) -> Self {
        text(&self)
    }

    fn row_id(self) -> Option<Uuid> {
        Uuid::parse_str(&self).ok()
    }
}

impl Raw for Number {
    fn storable(self) -> Self {
        self
    }

    fn row_id(self) -> Option<Uuid> {
        Some(Uuid::from_u128(u128::from(self.unsigned_abs())))
    }
}

/// Type of a field, with its stored form.
pub(crate) trait Stored: Sized {
    type Raw: Raw;

    /// Returns the stored form; `None` for NULL.
    fn encode(&self) -> Result<Option<Self::Raw>, StoreError>;

    /// Returns `None` if the stored value is unreadable.
    fn decode(raw: Option<Self::Raw>) -> Option<Self>;

    /// Returns the stored form of a missing value.
    fn missing() -> Option<Self::Raw> {
        None
    }
}

impl<T: Stored> Stored for Option<T> {
    type Raw = T::Raw;

    fn encode(&self) -> Result<Option<Self::Raw>, StoreError> {
        self.as_ref().map_or_else(|| Ok(T::missing()), T::encode)
    }

    fn decode(raw: Option<Self::Raw>) -> Option<Self> {
        if raw == T::missing() { Some(None) } else { T::decode(raw).map(Some) }
    }
}

/// Implements [`Stored`] by a conversion to the stored form, and a fallible one from it.
macro_rules! stored {
    ($($type:ty as $raw:ident: $encode:expr, $decode:expr;)*) => {
        $(impl Stored for $type {
            type Raw = $raw;

            fn encode(&self) -> Result<Option<$raw>, StoreError> {
                let encode: fn(&Self) -> $raw = $encode;
                Ok(Some(encode(self)))
            }

            fn decode(raw: Option<$raw>) -> Option<Self> {
                let decode: fn($raw) -> Option<Self> = $decode;
                decode(raw?)
            }
        })*
    };
}

stored! {
    String as Text: |value| text(value), Some;
    EmailAddress as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw).ok();
    InstanceState as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    StartStep as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    EndReason as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    ActivityAction as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    Icon as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    i64 as Number: |value| *value, Some;
    u32 as Number: |value| i64::from(*value), |raw| Self::try_from(raw).ok();
    u64 as Number: |value| i64::try_from(*value).unwrap_or(i64::MAX), |raw| Self::try_from(raw).ok();
    bool as Number: |value| i64::from(*value), |raw| Some(raw == 1);
    Timestamp as Number: |value| value.as_millisecond(), |raw| Self::from_millisecond(raw).ok();
}

/// A missing identifier is the empty text: unique indexes compare it.
impl Stored for Uuid {
    type Raw = Text;

    fn encode(&self) -> Result<Option<Text>, StoreError> {
        Ok(Some(self.to_string()))
    }

    fn decode(raw: Option<Text>) -> Option<Self> {
        Self::parse_str(&raw?).ok()
    }

    fn missing() -> Option<Text> {
        Some(String::new())
    }
}

/// Launch parameters: JSON, and NULL without parameters.
impl Stored for BTreeMap<String, Option<String>> {
    type Raw = Text;

    fn encode(&self) -> Result<Option<Text>, StoreError> {
        (!self.is_empty()).then(|| json(self)).transpose()
    }

    fn decode(raw: Option<Text>) -> Option<Self> {
        raw.map_or_else(|| Some(Self::new()), |raw| serde_json::from_str(&raw).ok())
    }
}

macro_rules! stored_as_json {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            type Raw = Text;

            fn encode(&self) -> Result<Option<Text>, StoreError> {
                json(self).map(Some)
            }

            fn decode(raw: Option<Text>) -> Option<Self> {
                serde_json::from_str(&raw?).ok()
            }
        })*
    };
}

stored_as_json!(TemplateSettings, FailureReason, Crash, MaterialReport, InstanceSnapshot, Vec<String>);

/// Reads the columns of one row. Its errors name the table, the row and the column.
pub(crate) struct Reader<'r> {
    row: &'r AnyRow,
    table: &'static str,
    pub(crate) id: Uuid,
}

impl<'r> Reader<'r> {
    pub(crate) fn new<K: Raw>(row: &'r AnyRow, table: &'static str, key: &'static str) -> Result<Self, StoreError> {
        let unknown = Self { row, table, id: Uuid::nil() };
        let id = unknown.raw::<K>(key)?.and_then(K::row_id).ok_or_else(|| unknown.corrupt(key))?;
        Ok(Self { id, ..unknown })
    }

    fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, row: self.id, column }
    }

    fn raw<R: Raw>(&self, column: &'static str) -> Result<Option<R>, StoreError> {
        self.row.try_get(column).map_err(|error| match error {
            sqlx::Error::ColumnDecode { .. } => self.corrupt(column),
            other => other.into(),
        })
    }

    pub(crate) fn stored<R: Raw, T: Stored<Raw = R>>(&self, column: &'static str) -> Result<T, StoreError> {
        T::decode(self.raw(column)?).ok_or_else(|| self.corrupt(column))
    }
}
