//! The task that looks after one Workshop: starts it, waits for it, ends it, explains it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{FailureCode, FailureReason};
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Context;
use super::exit::ExitWatch;
use super::shop::{Shop, Wish};
use super::state::Record;
use super::{ending, layout, log, readiness, start};

/// How often the clock and the log are looked at. The clock is asked rather than slept on: it may jump, and the machine
/// may have been asleep.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long to wait before files that could not be removed are tried again.
const REMOVE_PAUSE: Duration = Duration::from_secs(1);

/// Looks after one Workshop.
#[derive(Debug)]
pub(super) struct Supervisor {
    shop: Arc<Shop>,
    context: Arc<Context>,
    /// The leading process, while one runs.
    exit: Option<ExitWatch>,
}

/// What is left of a Workshop when its supervisor is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Its record: the next start of the launcher takes it up.
    Record,
    /// Nothing.
    Nothing,
}

impl Left {
    pub(super) fn is_gone(self) -> bool {
        self == Self::Nothing
    }
}

/// Why a Workshop does not go on.
#[derive(Debug)]
pub(super) enum End {
    Failed(FailureReason),
    Expired,
    /// Something else was wished while it started.
    Overtaken,
}

impl Supervisor {
    /// For a Workshop that nothing runs for, or whose process was taken over from an earlier launcher.
    pub(super) fn new(shop: Arc<Shop>, adopted: Option<ExitWatch>) -> Self {
        let context = Arc::clone(shop.context());
        Self { shop, context, exit: adopted }
    }

    /// Does what is wished until nothing more can be wished.
    pub(super) async fn run(mut self) -> Left {
        let mut wishes = self.shop.wishes();
        loop {
            let wish = *wishes.borrow_and_update();
            match wish {
                Wish::Delete => return self.delete().await,
                Wish::Rest => return self.rest().await,
                Wish::Run => {}
            }
            let end = tokio::select! {
                _ = wishes.changed() => continue,
                end = self.keep() => end,
            };
            self.finish(end).await;
        }
    }

    /// Brings the app up and stays with it until it does not go on. May be dropped at any point: what was started is in
    /// the record.
    async fn keep(&mut self) -> End {
        if matches!(self.shop.phase(), Phase::Failed | Phase::Expired) {
            return std::future::pending().await;
        }
        let mut port_was_taken = false;
        loop {
            if self.is_over() {
                return End::Expired;
            }
            if self.exit.is_none() {
                self.end_processes().await;
                match start::start(&self.shop).await {
                    Ok(watch) => self.exit = Some(watch),
                    Err(end) => return end,
                }
            }
            let ended = tokio::select! {
                ended = ended(&mut self.exit) => ended,
                end = bring_up(&self.shop) => return end,
            };
            self.exit = None;
            let tail = log::tail(&self.context.layout.log(self.shop.name())).unwrap_or_default();
            if !port_was_taken && self.shop.phase() != Phase::Running && says_port_is_taken(&tail) {
                port_was_taken = true;
                continue;
            }
            return End::Failed(FailureReason::new(FailureCode::Crashed, Some(&ended)));
        }
    }

    fn is_over(&self) -> bool {
        end_of(&self.shop.record()).is_some_and(|end| end <= self.context.clock.now())
    }

    /// Ends what runs, then says why: nothing of a Workshop runs once it is said to have failed or expired.
    async fn finish(&mut self, end: End) {
        let tail = log::tail(&self.context.layout.log(self.shop.name()));
        self.end_processes().await;
        let status = match end {
            End::Overtaken => return,
            End::Expired => WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() },
            End::Failed(reason) => WorkshopStatus::failed(reason, tail),
        };
        tracing::info!(workshop = self.shop.name(), phase = ?status.phase, reason = status.message, "a Workshop has ended");
        self.shop
            .settle(move |record| {
                let ready_at = record.status().ready_at;
                record.set_status(WorkshopStatus { ready_at, ..status.clone() });
                record.process = None;
            })
            .await;
    }

    async fn rest(&mut self) -> Left {
        self.end_processes().await;
        self.shop.settle(|record| record.process = None).await;
        Left::Record
    }

    /// Ends the processes and removes the files; the record last, so that a launcher that is killed in between goes on
    /// with it.
    async fn delete(&mut self) -> Left {
        self.end_processes().await;
        let working = self.context.layout.working(self.shop.name());
        if let Err(error) = tokio::task::spawn_blocking(move || layout::remove(&working)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = self.shop.name(), %error, "the working directory could not be removed and is left");
        }
        while let Err(error) = self.shop.update_with(|shop, _| shop.remove()).await {
            tracing::error!(workshop = self.shop.name(), %error, "a Workshop's record could not be removed");
            sleep(REMOVE_PAUSE).await;
        }
        Left::Nothing
    }

    /// Lets nobody in any more, and ends everything that was started for this Workshop.
    async fn end_processes(&mut self) {
        self.shop.close_door();
        // Waits for a start that is under way; none begins behind it, since the wish has changed.
        let leader = self.shop.settled_record().await.process.map(|started| started.leader);
        ending::end(&self.shop.marker(), leader.as_ref(), self.context.settings.stop_grace).await;
        self.exit = None;
    }
}

async fn ended(exit: &mut Option<ExitWatch>) -> String {
    match exit {
        Some(exit) => exit.ended().await,
        None => std::future::pending().await,
    }
}

/// Waits until the app answers, says so, and stays until its time is up.
async fn bring_up(shop: &Arc<Shop>) -> End {
    let record = shop.record();
    let Some(started) = &record.process else { return std::future::pending().await };
    if record.status().phase != Phase::Running {
        let context = shop.context();
        let host = context.settings.host(shop.name());
        tokio::select! {
            () = readiness::answers(started.port, &host) => {}
            () = time_up(shop) => return End::Expired,
            () = sleep(context.settings.start_timeout) => {
                let detail = format!("It was given {} seconds.", context.settings.start_timeout.as_secs());
                return End::Failed(FailureReason::new(FailureCode::StartTimeout, Some(&detail)));
            }
        }
        shop.open_door(started.port);
        let (now, url) = (context.clock.now(), context.settings.url(shop.name()));
        shop.settle(move |record| {
            let ready_at = record.status().ready_at.or(Some(now));
            record.set_status(WorkshopStatus {
                phase: Phase::Running,
                url: Some(url.clone()),
                ready_at,
                ..WorkshopStatus::default()
            });
        })
        .await;
        tracing::info!(workshop = shop.name(), "a Workshop is ready");
    }
    time_up(shop).await;
    End::Expired
}

/// Waits for the end of a Workshop's time, which each extension moves; keeps its log small meanwhile.
async fn time_up(shop: &Arc<Shop>) {
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if end_of(&shop.record()).is_some_and(|end| end <= shop.context().clock.now()) {
            return;
        }
        if let Err(error) = log::cap(&shop.context().layout.log(shop.name())) {
            tracing::debug!(workshop = shop.name(), %error, "a log could not be cut");
        }
    }
}

fn end_of(record: &Record) -> Option<Timestamp> {
    record.workshop.spec.end(record.status().ready_at)
}

/// Whether an app ended because another program took its port between our choice and its start.
fn says_port_is_taken(log: &str) -> bool {
    let log = log.to_ascii_lowercase();
    ["address already in use", "address in use", "eaddrinuse"].iter().any(|sign| log.contains(sign))
}
