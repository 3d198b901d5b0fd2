//! Starts the process group of a Workshop.

use std::io;
use std::path::Path;
use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{FailureCode, FailureReason, StartStep};
use launcher_workshop::WorkshopStatus;
use tokio::task::JoinError;

use super::command::{Launch, Order, wants_token};
use super::exit::ExitWatch;
use super::keeper::{Kept, StartError};
use super::login::Token;
use super::shop::{Shop, Wish};
use super::state::{Record, Started};
use super::supervisor::End;
use super::{layout, log, state};

/// Starts the app on a free port. The process is recorded on disk before this returns. If the launcher is killed
/// earlier, the next one finds the process by its marker.
pub(super) async fn start(shop: &Arc<Shop>) -> Result<ExitWatch, End> {
    shop.update_with(start_now).await
}

fn start_now(shop: &Shop, record: &mut Record) -> Result<ExitWatch, End> {
    // Under the record's lock: a deletion takes that lock before it searches for processes.
    if shop.wish() != Wish::Run {
        return Err(End::Overtaken);
    }
    let context = shop.context();
    let lease = context.ports.take(&SystemEntropy).ok_or_else(no_port)?;
    let port = lease.port();
    shop.keep_port(lease);
    let marker = shop.marker_of(record);
    let token = wants_token(&record.workshop.spec).then(|| Token::random(&SystemEntropy));
    let order = Order {
        settings: &context.settings,
        layout: &context.layout,
        name: shop.name(),
        spec: &record.workshop.spec,
        marker: &marker,
        port,
        token: token.as_ref(),
    };
    let launch = order.launch().map_err(End::Failed)?;
    let working = context.layout.working(shop.name());
    prepare(&order, &working).map_err(|error| broken("its directories cannot be made", &error))?;
    let log =
        log::create(&context.layout.log(shop.name())).map_err(|error| broken("its log cannot be made", &error))?;
    let kept = Kept::start(&context.settings.keeper, &launch, &working, log).map_err(|error| match error {
        StartError::App(error) => not_started(&launch, &error),
        StartError::Keeper(error) => broken("its keeper cannot be started", &error),
    })?;
    let leader = kept.leader.clone();
    let mut next = record.clone();
    next.process = Some(Started { leader: leader.clone(), port, token });
    let ready_at = next.status().ready_at;
    next.set_status(WorkshopStatus::starting(StartStep::StartingApp, ready_at));
    if let Err(error) = shop.replace(record, next) {
        // Without a record it must not keep running. The failure then terminates the rest by its marker.
        leader.number.signal(rustix::process::Signal::KILL);
        return Err(broken("its state cannot be written", &io::Error::other(error)));
    }
    tracing::info!(workshop = shop.name(), program = %launch.program.display(), port, "starting Workshop");
    Ok(ExitWatch::Kept(Box::new(kept)))
}

fn prepare(order: &Order<'_>, working: &Path) -> io::Result<()> {
    let app = order.layout.app(order.name);
    layout::make_private(working)?;
    layout::make_private(&app)?;
    order.files().into_iter().try_for_each(|(file, content)| {
        let path = app.join(file);
        path.parent().map_or(Ok(()), layout::make_private)?;
        state::replace(&path, content.as_bytes())
    })
}

fn not_started(launch: &Launch, error: &io::Error) -> End {
    let detail = format!("{} cannot be started: {error}.", launch.program.display());
    let reason = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            FailureReason::new(FailureCode::AppNotAvailable, Some(&detail)).with_remedy(&launch.remedy)
        }
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => {
            FailureReason::new(FailureCode::InvalidSpec, Some(&detail))
        }
        _ => FailureReason::new(FailureCode::Crashed, Some(&detail)),
    };
    End::Failed(reason)
}

fn no_port() -> End {
    End::Failed(FailureReason::new(FailureCode::Unschedulable, Some("Every port that a workshop may have is taken.")))
}

pub(super) fn broken(what: &str, error: &io::Error) -> End {
    tracing::error!(%error, what, "starting Workshop failed");
    End::Failed(FailureReason::new(FailureCode::Crashed, Some(&format!("It was not started: {what} ({error})."))))
}

impl From<JoinError> for End {
    fn from(error: JoinError) -> Self {
        broken("the start broke off", &io::Error::other(error))
    }
}
