//! Reads the values of a row. An unreadable value is [`StoreError::Corrupt`], never a default.

use jiff::Timestamp;
use launcher_domain::EmailAddress;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{ColumnIndex, Decode, Row, Type};
use uuid::Uuid;

use crate::error::StoreError;

/// Reads the columns of one row. Its errors name the table, the row and the column.
pub(crate) struct Reader<'r> {
    pub(crate) row: &'r AnyRow,
    pub(crate) table: &'static str,
    pub(crate) id: Uuid,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(row: &'r AnyRow, table: &'static str, id_column: &'static str) -> Result<Self, StoreError> {
        let unknown = Self { row, table, id: Uuid::nil() };
        let id = unknown.parsed(id_column, |text| Uuid::parse_str(text).ok())?;
        Ok(Self { id, ..unknown })
    }

    pub(crate) fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, row: self.id, column }
    }

    pub(crate) fn value<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: Decode<'r, sqlx::Any> + Type<sqlx::Any>,
        &'static str: ColumnIndex<AnyRow>,
    {
        self.row.try_get(column).map_err(|error| match error {
            sqlx::Error::ColumnDecode { .. } => self.corrupt(column),
            other => other.into(),
        })
    }

    pub(crate) fn parsed<T>(&self, column: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        parse(&self.value::<String>(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub(crate) fn email(&self, column: &'static str) -> Result<Option<EmailAddress>, StoreError> {
        let text: Option<String> = self.value(column)?;
        text.map(|text| EmailAddress::parse(&text).map_err(|_| self.corrupt(column))).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.value(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|_| self.corrupt(column))).transpose()
    }

    pub(crate) fn time(&self, column: &'static str) -> Result<Option<Timestamp>, StoreError> {
        let millis: Option<i64> = self.value(column)?;
        millis.map(|millis| Timestamp::from_millisecond(millis).map_err(|_| self.corrupt(column))).transpose()
    }
}
