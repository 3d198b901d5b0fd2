//! SQL statements. Their text consists of `&'static str` only, so values can only be passed as arguments, which
//! prevents SQL injection. Every statement has a timeout.

use std::future::Future;

use sqlx::any::{AnyArguments, AnyQueryResult, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, Arguments, AssertSqlSafe, Encode, Executor, Type};
use tokio::time::timeout;

use crate::driver::STATEMENT_TIMEOUT;
use crate::error::{StoreError, timeout_error};
use crate::rows::reported;
use crate::table::FromRow;

/// Returns a statement with constant text.
pub(crate) fn query(text: &'static str) -> Statement {
    Statement(sqlx::query(text))
}

/// Statement with its arguments, ready to run.
pub(crate) struct Statement(Query<'static, Any, AnyArguments>);

impl Statement {
    /// Wraps a statement whose text is built elsewhere from constants.
    pub(crate) fn of(query: Query<'static, Any, AnyArguments>) -> Self {
        Self(query)
    }

    /// Binds the value of the next placeholder.
    pub(crate) fn bind(self, value: impl Encode<'static, Any> + Type<Any> + 'static) -> Self {
        Self(self.0.bind(value))
    }

    pub(crate) async fn execute<'c>(self, on: impl Executor<'c, Database = Any>) -> Result<AnyQueryResult, StoreError> {
        in_time(self.0.execute(on)).await
    }

    pub(crate) async fn fetch_one<'c>(self, on: impl Executor<'c, Database = Any>) -> Result<AnyRow, StoreError> {
        in_time(self.0.fetch_one(on)).await
    }

    pub(crate) async fn fetch_optional<'c>(
        self,
        on: impl Executor<'c, Database = Any>,
    ) -> Result<Option<AnyRow>, StoreError> {
        in_time(self.0.fetch_optional(on)).await
    }

    pub(crate) async fn fetch_all<'c>(self, on: impl Executor<'c, Database = Any>) -> Result<Vec<AnyRow>, StoreError> {
        in_time(self.0.fetch_all(on)).await
    }

    /// Runs the statement and reads its first row.
    pub(crate) async fn read_optional<'c, T: FromRow>(
        self,
        on: impl Executor<'c, Database = Any>,
    ) -> Result<Option<T>, StoreError> {
        self.fetch_optional(on).await?.as_ref().map(T::read).transpose()
    }

    pub(crate) async fn read_all<'c, T: FromRow>(
        self,
        on: impl Executor<'c, Database = Any>,
    ) -> Result<Vec<T>, StoreError> {
        self.fetch_all(on).await?.iter().map(T::read).collect()
    }

    /// Runs the statement and reads all rows for a loop. Skips and logs unreadable rows, so that they do not block the others.
    pub(crate) async fn read_readable<'c, T: FromRow>(
        self,
        on: impl Executor<'c, Database = Any>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(self.fetch_all(on).await?.iter().filter_map(|row| reported(T::read(row))).collect())
    }
}

/// Limits the wait for the database to [`STATEMENT_TIMEOUT`].
pub(crate) async fn in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
    Ok(timeout(STATEMENT_TIMEOUT, answer).await.unwrap_or_else(|_| Err(timeout_error()))?)
}

/// Builder of a statement from constant text and arguments.
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

    pub(crate) fn push(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// Appends a text that ends with a placeholder, and binds its value.
    pub(crate) fn push_with<'v>(&mut self, text: &'static str, value: impl Encode<'v, Any> + Type<Any>) {
        self.push(text);
        self.bind(value);
    }

    /// Appends a placeholder and binds its value.
    pub(crate) fn bind<'v>(&mut self, value: impl Encode<'v, Any> + Type<Any>) {
        self.bound += 1;
        self.text.push_str(&format!("${}", self.bound));
        self.argument(value);
    }

    /// Binds the value of a placeholder that is already in the text.
    pub(crate) fn argument<'v>(&mut self, value: impl Encode<'v, Any> + Type<Any>) {
        if let Ok(arguments) = &mut self.arguments
            && let Err(error) = arguments.add(value)
        {
            self.arguments = Err(sqlx::Error::Encode(error));
        }
    }

    /// Appends a condition, joined with AND.
    pub(crate) fn condition(&mut self, text: &'static str) {
        self.push(if self.conditions == 0 { " WHERE " } else { " AND " });
        self.conditions += 1;
        self.push(text);
    }

    /// Appends the start of another SELECT, for example after UNION ALL. Conditions that are appended later belong to
    /// this SELECT.
    pub(crate) fn again(&mut self, text: &'static str) {
        self.push(text);
        self.conditions = 0;
    }

    /// Appends a subquery in parentheses. Conditions that `build` appends belong to the subquery.
    pub(crate) fn subquery(&mut self, text: &'static str, build: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.conditions);
        self.push("(");
        self.push(text);
        build(self);
        self.push(")");
        self.conditions = outer;
    }

    /// Appends a condition that ends with a placeholder, and binds its value.
    pub(crate) fn condition_with<'v>(&mut self, text: &'static str, value: impl Encode<'v, Any> + Type<Any>) {
        self.condition(text);
        self.bind(value);
    }

    /// Returns the text, for tests of the query plan.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the EXPLAIN statement for this one with the same values.
    #[cfg(all(test, feature = "test-postgres"))]
    pub(crate) fn explain(self) -> Self {
        Self { text: format!("EXPLAIN {}", self.text), ..self }
    }

    /// Returns the statement, ready to run.
    pub(crate) fn statement(self) -> Result<Statement, StoreError> {
        Ok(Statement::of(sqlx::query_with(AssertSqlSafe(self.text), self.arguments?)))
    }
}
