//! Tables. One declaration per row type, from which SELECT, INSERT, UPDATE and the copy to another engine are built.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::{
    ActivityAction, ClassContent, ClassRole, EmailAddress, EndReason, FailureReason, InstanceSnapshot, InstanceState,
    JoinRules, Listing, MemberSource, Report, TemplateSettings,
};
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Encode, Row, Type};
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::{json, text};
use crate::sql::Statement;

/// Statements that write a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// INSERT. Later only statements that name the column.
    Once,
    /// INSERT, and the UPDATE of a row.
    Always,
    /// The UPDATE of a row. INSERT leaves the default.
    Changed,
    /// INSERT, whose caller binds the value after those of the row: the row type has no such field.
    Apart,
    /// Only statements that name the column. INSERT leaves the default.
    Later,
    /// None: the row type reads an expression.
    Never,
}

impl Written {
    fn by_insert(self) -> bool {
        matches!(self, Self::Once | Self::Always)
    }

    fn by_update(self) -> bool {
        matches!(self, Self::Always | Self::Changed)
    }
}

pub(crate) struct Column {
    pub(crate) name: &'static str,
    written: Written,
    /// Binds the value that a row has in this column.
    copy: fn(Statement, &AnyRow, &'static str) -> Result<Statement, StoreError>,
}

impl Column {
    pub(crate) const fn new<R: Raw>(name: &'static str, written: Written) -> Self {
        Self { name, written, copy: copy::<R> }
    }
}

fn copy<R: Raw>(statement: Statement, row: &AnyRow, column: &'static str) -> Result<Statement, StoreError> {
    let value: Option<R> = sqlx::Row::try_get(row, column)?;
    Ok(statement.bind(value.map(R::storable)))
}

/// Table with the columns that order its rows.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [Column],
}

impl Table {
    /// Returns the columns that exist in the database.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &'static Column> {
        self.columns.iter().filter(|column| column.written != Written::Never)
    }

    /// Builds the INSERT of a row, whose values [`Record::bind_all`] binds.
    pub(crate) fn insert(&self) -> String {
        self.insert_of(self.stored().filter(|column| column.written.by_insert() || column.written == Written::Apart))
    }

    /// Builds the INSERT of all columns.
    pub(crate) fn insert_copy(&self) -> String {
        self.insert_of(self.stored())
    }

    fn insert_of(&self, columns: impl Iterator<Item = &'static Column>) -> String {
        let columns: Vec<_> = columns.map(|column| column.name).collect();
        let values: Vec<_> = (1..=columns.len()).map(|place| format!("${place}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.name, columns.join(", "), values.join(", "))
    }

    /// Builds the list of an UPDATE's SET. Its placeholders begin with `first`; [`Record::bind_changed`] binds them.
    pub(crate) fn set(&self, first: usize) -> String {
        let set = self.changed().zip(first..).map(|(column, place)| format!("{column} = ${place}"));
        set.collect::<Vec<_>>().join(", ")
    }

    /// Builds the SET list of ON CONFLICT.
    pub(crate) fn set_excluded(&self) -> String {
        self.changed().map(|column| format!("{column} = excluded.{column}")).collect::<Vec<_>>().join(", ")
    }

    fn changed(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|column| column.written.by_update()).map(|column| column.name)
    }

    /// Binds all values of a row for [`Table::insert_copy`].
    pub(crate) fn bind_copy(&self, statement: Statement, row: &AnyRow) -> Result<Statement, StoreError> {
        self.stored().try_fold(statement, |statement, column| (column.copy)(statement, row, column.name))
    }
}

/// Type that is read from a row.
pub(crate) trait FromRow: Sized {
    fn read(row: &AnyRow) -> Result<Self, StoreError>;
}

/// Row type with its table.
pub(crate) trait Record: FromRow {
    const TABLE: Table;

    /// Binds the values of the columns that `is_bound` selects, in the order of the table.
    fn bind(&self, statement: Statement, is_bound: fn(Written) -> bool) -> Result<Statement, StoreError>;

    /// Binds the values of [`Table::insert`], except those of [`Written::Apart`].
    fn bind_all(&self, statement: Statement) -> Result<Statement, StoreError> {
        self.bind(statement, Written::by_insert)
    }

    /// Binds the values of [`Table::set`].
    fn bind_changed(&self, statement: Statement) -> Result<Statement, StoreError> {
        self.bind(statement, Written::by_update)
    }
}

/// Declares the table of a row type: the key and all other columns, each with its stored type and the statements that
/// write it. Also declares a macro with the SELECT of the columns, which takes the rest of the statement, or with `columns` only
/// their list. A column has the name of its field. A row type with nested fields begins with its pattern.
macro_rules! table {
    (
        $name:literal as $record:ident, $select:ident {
            $key:ident: $key_type:ident, $($field:ident: $type:ident $written:ident $(= $sql:ident)?,)*
        } $($hidden:tt)*
    ) => {
        table! {
            ($record { $key, $($field),* }) $name as $record, $select {
                $key: $key_type, $($field: $type $written $(= $sql)?,)*
            } $($hidden)*
        }
    };
    (
        ($($pattern:tt)*) $name:literal as $record:ident, $select:ident {
            $key:ident: $key_type:ident, $($field:ident: $type:ident $written:ident $(= $sql:ident)?,)*
        } $($hidden:ident: $hidden_type:ident $hidden_written:ident,)*
    ) => {
        macro_rules! $select {
            (columns) => { concat!(stringify!($key) $(, ", ", selected!($field $($sql)?))*) };
            () => { concat!("SELECT ", $select!(columns), " FROM ", $name) };
            ($rest:literal) => { concat!("SELECT ", $select!(columns), " FROM ", $name, $rest) };
        }

        impl $crate::table::Record for $record {
            const TABLE: $crate::table::Table = $crate::table::Table {
                name: $name,
                key: stringify!($key),
                columns: &[
                    Column::new::<$key_type>(stringify!($key), Written::Once),
                    $(Column::new::<$type>(stringify!($field), Written::$written),)*
                    $(Column::new::<$hidden_type>(stringify!($hidden), Written::$hidden_written),)*
                ],
            };

            fn bind(&self, statement: Statement, is_bound: fn(Written) -> bool) -> Result<Statement, StoreError> {
                let $($pattern)* = self;
                let statement = if is_bound(Written::Once) { statement.bind($key.encode()?) } else { statement };
                $(let statement =
                    if is_bound(Written::$written) { statement.bind($field.encode()?) } else { statement };)*
                Ok(statement)
            }
        }

        impl $crate::table::FromRow for $record {
            fn read(row: &AnyRow) -> Result<Self, StoreError> {
                let reader = Reader::new::<$key_type>(row, $name, stringify!($key))?;
                let $key = reader.stored::<$key_type, _>(stringify!($key))?;
                $(let $field = reader.stored::<$type, _>(stringify!($field))?;)*
                Ok($($pattern)*)
            }
        }
    };
}

/// Entry of a SELECT list: a column, or an expression with the name of a field.
macro_rules! selected {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $sql:ident) => {
        concat!($sql!(), " AS ", stringify!($field))
    };
}

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
    EndReason as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    ClassRole as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    MemberSource as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
    ActivityAction as Text: |value| value.as_str().to_owned(), |raw| Self::parse(&raw);
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

stored_as_json!(ClassContent, JoinRules, TemplateSettings, Listing, FailureReason, InstanceSnapshot);

impl Stored for Report {
    type Raw = Text;

    fn encode(&self) -> Result<Option<Text>, StoreError> {
        // A log may contain NUL characters.
        json(&Self { log_tail: self.log_tail.as_deref().map(text), ..self.clone() }).map(Some)
    }

    fn decode(raw: Option<Text>) -> Option<Self> {
        serde_json::from_str(&raw?).ok()
    }
}

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
