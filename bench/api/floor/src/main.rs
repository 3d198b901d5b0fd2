//! `bench-floor PORT DATABASE`: a bare axum handler that reads one instance by its name and answers it as JSON.
//! It has no identity, rules, log or limits. An API of the same libraries cannot be faster.

use std::{error::Error, str::FromStr, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::get,
};
use serde::Serialize;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

#[derive(Serialize, sqlx::FromRow)]
struct Instance {
    instance_id: String,
    k8s_name: String,
    owner_email: String,
    template_id: String,
    settings: String,
    state: String,
    created_at: i64,
    expires_at: Option<i64>,
    ended_at: Option<i64>,
    revision: i64,
}

const READ: &str = "SELECT instance_id, k8s_name, owner_email, template_id, (SELECT kept.settings FROM \
                    template_settings AS kept WHERE kept.settings_hash = workshop_instances.settings_hash) AS settings, \
                    state, created_at, expires_at, ended_at, revision FROM workshop_instances WHERE k8s_name = $1";

async fn one(
    State(rows): State<Arc<SqlitePool>>,
    Path(name): Path<String>,
) -> Result<Json<Instance>, StatusCode> {
    let found = sqlx::query_as(READ).bind(name).fetch_optional(&*rows).await;
    match found {
        Ok(Some(instance)) => Ok(Json(instance)),
        Ok(None) => Err(StatusCode::NOT_FOUND),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(port), Some(database)) = (words.next(), words.next()) else {
        return Err("usage: bench-floor PORT DATABASE".into());
    };
    let options = SqliteConnectOptions::from_str(&database)?.read_only(true);
    let rows = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(options)
        .await?;
    let routes = Router::new()
        .route("/instances/{name}", get(one))
        .with_state(Arc::new(rows));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, routes).await?;
    Ok(())
}
