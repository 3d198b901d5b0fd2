//! A statement put together from constants. Values go in as arguments only: every piece of text is `&'static str`.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, Arguments, AssertSqlSafe, Encode, Executor, Type};

use crate::error::StoreError;

/// A statement and its arguments.
pub(crate) struct Sql {
    text: String,
    arguments: Result<AnyArguments, sqlx::Error>,
    bound: usize,
    conditions: usize,
}

impl Sql {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text: text.to_owned(), arguments: Ok(AnyArguments::default()), bound: 0, conditions: 0 }
    }

    /// Appends text.
    pub(crate) fn push(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// Appends a placeholder for a value.
    pub(crate) fn bind<'v>(&mut self, value: impl Encode<'v, Any> + Type<Any>) {
        self.bound += 1;
        self.text.push_str(&format!("${}", self.bound));
        if let Ok(arguments) = &mut self.arguments
            && let Err(error) = arguments.add(value)
        {
            self.arguments = Err(sqlx::Error::Encode(error));
        }
    }

    /// Appends a condition that all rows must meet.
    pub(crate) fn condition(&mut self, text: &'static str) {
        self.push(if self.conditions == 0 { " WHERE " } else { " AND " });
        self.conditions += 1;
        self.push(text);
    }

    /// Appends a condition that ends with a value.
    pub(crate) fn condition_with<'v>(&mut self, text: &'static str, value: impl Encode<'v, Any> + Type<Any>) {
        self.condition(text);
        self.bind(value);
    }

    /// The text, for the test that asks the engine how it would run it.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Runs it.
    pub(crate) async fn fetch_all<'c>(self, on: impl Executor<'c, Database = Any>) -> Result<Vec<AnyRow>, StoreError> {
        let query: Query<'static, Any, AnyArguments> = sqlx::query_with(AssertSqlSafe(self.text), self.arguments?);
        Ok(query.fetch_all(on).await?)
    }
}
