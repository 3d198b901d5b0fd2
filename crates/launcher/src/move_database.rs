//! `launcher move-database`: copies all rows into another, empty database, for example from SQLite to PostgreSQL.

use clap::Args;
use launcher_store::{FleetBinding, Store, StoreError};

/// Arguments of `launcher move-database`.
#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Source database, as a URL; stays unchanged
    #[arg(long, value_name = "URL")]
    from: String,

    /// Target database, as a URL; empty, or a SQLite file that does not exist yet
    #[arg(long, value_name = "URL")]
    to: String,

    /// Bind the copy to the cluster of its next start; workshops that do not run there end as lost
    #[arg(long)]
    new_fleet: bool,
}

/// Copies all rows, and returns one line for each table.
pub(crate) async fn run(args: &MoveArgs) -> Result<String, String> {
    let copied = copy(args).await.map_err(|error| error.to_string())?;
    let lines = copied.iter().map(|(table, rows)| format!("{rows:>8}  {table}"));
    let last = "All rows are copied. Set SERVICE_DATABASE_URL to the new database, then start the service.".to_owned();
    Ok(lines.chain([last]).collect::<Vec<_>>().join("\n"))
}

async fn copy(args: &MoveArgs) -> Result<Vec<(&'static str, u64)>, StoreError> {
    let from = Store::open_existing(&args.from).await?;
    let to = Store::open(&args.to).await?;
    let fleet = if args.new_fleet { FleetBinding::Clear } else { FleetBinding::Keep };
    let copied = from.copy_to(&to, fleet).await;
    from.close().await;
    to.close().await;
    copied
}
