//! Watches of the simulated API server. A watch sends all changes of a kind in order and with a delay, until the server
//! closes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_stream::wrappers::ReceiverStream;

use crate::faults::WatchFate;
use crate::request::Asked;
use crate::server::{Answer, Server, status, streamed};

pub(crate) fn answer(server: Server, asked: Asked, fate: WatchFate) -> Answer {
    let (lines, body) = mpsc::channel(64);
    tokio::spawn(async move {
        tokio::select! {
            () = tell(&server, &asked, fate, &lines) => {}
            () = lines.closed() => {}
        }
    });
    streamed(ReceiverStream::new(body))
}

async fn tell(server: &Server, asked: &Asked, fate: WatchFate, lines: &mpsc::Sender<Bytes>) {
    let seconds = asked.number("timeoutSeconds").unwrap_or(290);
    let end = Instant::now() + fate.cut.min(Duration::from_secs(seconds));
    let mut seen = asked.number("resourceVersion").unwrap_or(0);
    let mut news = server.news.subscribe();
    while Instant::now() < end {
        news.mark_unchanged();
        let (next, forgotten) = {
            let objects = server.look();
            (objects.since(&asked.kind, seen), seen < objects.compacted)
        };
        if forgotten {
            drop(lines.send(line("ERROR", &status(410))).await);
            return;
        }
        let Some(change) = next else {
            if timeout_at(end, news.changed()).await.is_err() {
                return;
            }
            continue;
        };
        if !fate.lag.is_zero() {
            sleep(fate.lag).await; // simulated time
        }
        server.faults.caught_up(&asked.kind).await;
        seen = change.version;
        let object: &Arc<Value> = &change.object;
        if asked.selects(object) && lines.send(line(change.what, object)).await.is_err() {
            return;
        }
    }
}

fn line(what: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{what}\",\"object\":{object}}}\n"))
}
