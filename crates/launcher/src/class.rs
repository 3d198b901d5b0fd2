//! `launcher class`: exports a class as a YAML file, and creates a class from one, in the database of the service.

use std::path::PathBuf;

use clap::Subcommand;
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_domain::{AdminList, Caller, EmailAddress};
use launcher_service::{ClassFiles, Limits, ServiceError};
use launcher_store::Store;

use crate::serve::seeds::sentence;
use crate::settings::DatabaseSettings;

/// Reader of an exported class. The domain is reserved (RFC 2606), so the address belongs to no person.
const EXPORTED_BY: &str = "export@launcher.invalid";

/// Commands for a class in a file.
#[derive(Debug, Subcommand)]
pub(crate) enum ClassCommand {
    /// Print a class and its templates as YAML, without people
    Export {
        /// Slug of the class
        class: String,

        #[command(flatten)]
        database: DatabaseSettings,
    },
    /// Create a class with the templates of a file; all or nothing
    ///
    /// If another class has the slug of the file, the new class gets one with a suffix. The command acts with the rights of an
    /// admin. The first teacher becomes the author of the class.
    Import {
        /// YAML file that `launcher class export` or the page of a class has written
        file: PathBuf,

        /// Address of a teacher of the class; repeat it for several
        #[arg(long, required = true, value_name = "ADDRESS", value_parser = |text: &str| EmailAddress::parse(text))]
        teacher: Vec<EmailAddress>,

        #[command(flatten)]
        database: DatabaseSettings,
    },
}

/// Runs the command, and returns what it prints.
pub(crate) async fn run(command: ClassCommand) -> Result<String, String> {
    match command {
        ClassCommand::Export { class, database } => {
            within(&database, async |files| {
                let caller = admin(EXPORTED_BY)?;
                let access = files.store.class(&caller, &class).await.map_err(|error| error.to_string())?;
                let access = access.ok_or_else(|| format!("there is no class with the slug {class}"))?;
                files.export(&access).await.map_err(|error| error.to_string())
            })
            .await
        }
        ClassCommand::Import { file, teacher, database } => {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            within(&database, async |files| {
                let author = teacher.first().map_or(EXPORTED_BY, EmailAddress::as_str);
                match files.import(&admin(author)?, &text, &teacher).await {
                    Ok(class) => Ok(format!("The class {} is created: /classes/{0}", class.content.slug)),
                    Err(ServiceError::Invalid(errors)) => Err(format!("{}: {}", file.display(), sentence(&errors))),
                    Err(error) => Err(error.to_string()),
                }
            })
            .await
        }
    }
}

/// Uses the database of the service, and closes it.
async fn within(
    settings: &DatabaseSettings,
    act: impl AsyncFnOnce(ClassFiles<'_>) -> Result<String, String>,
) -> Result<String, String> {
    let store = Store::open_existing(&settings.url()).await.map_err(|error| error.to_string())?;
    let policy = &settings.policy();
    let (clock, entropy, limits) = (&SystemClock, &SystemEntropy, Limits::default());
    let done = act(ClassFiles { store: &store, clock, entropy, policy, limits, namespaces: &[] }).await;
    store.close().await;
    done
}

/// Returns a caller with the rights of an admin: who can open the database has all of them.
fn admin(email: &str) -> Result<Caller, String> {
    let admins = AdminList::parse(email).map_err(|error| error.to_string())?;
    Ok(admins.caller(EmailAddress::parse(email).map_err(|error| error.to_string())?))
}
