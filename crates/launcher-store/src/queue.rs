//! Order of the queue: start-time fair queueing (Goyal, Vin and Cheng, 1996) between the classes.
//!
//! Each queued instance has a number, and the instance with the lowest number starts first. Its high part is a virtual time: one
//! launch takes [`UNIT`] of it, divided by the weight of the class. An instance is one launch after the last queued one of its
//! class, but not before the first of the whole queue. So classes that wait at the same time start workshops in the ratio of
//! their weights, and a class with few launches does not wait behind all launches of a larger one. The shared catalog counts
//! as a class. Its low part is the revision: the order of launches with the same virtual time.

use launcher_domain::ClassLimits;
use sqlx::{AnyConnection, Row};

use crate::dispatch::startable;
use crate::error::StoreError;
use crate::sql::query;

/// Virtual time of one launch of a class with weight 1. Each weight from 1 to 10 divides it.
const UNIT: i64 = 2520;
/// Bits of the revision in a number. Two launches in the queue at the same time are fewer revisions apart.
const REVISION_BITS: u32 = 20;

/// First instance that can start. The virtual time does not stand still while a quota is full.
pub(crate) const FIRST: &str =
    concat!("SELECT min(queue_number) AS number FROM workshop_instances WHERE ", startable!());
/// Last queued instance of a class, or with an empty identifier of the shared catalog.
pub(crate) const LAST_OF_CLASS: &str = "SELECT max(queue_number) AS number FROM workshop_instances \
     WHERE state = 'queued' AND template_id IN (SELECT template_id FROM workshop_templates WHERE class_id = $1)";

/// Returns the number of a new instance in the queue. The transaction must hold the lock of all launches.
pub(crate) async fn number(
    connection: &mut AnyConnection,
    class: Option<ClassLimits>,
    revision: i64,
) -> Result<i64, StoreError> {
    let (class_id, weight) = class.map_or((String::new(), 1), |class| (class.class_id.to_string(), class.queue_weight));
    let virtual_time = |number: Option<i64>| number.map(|number| number >> REVISION_BITS);
    let first: Option<i64> = query(FIRST).fetch_one(&mut *connection).await?.try_get("number")?;
    let last: Option<i64> = query(LAST_OF_CLASS).bind(class_id).fetch_one(connection).await?.try_get("number")?;
    let after_last = virtual_time(last).map(|last| last + UNIT / i64::from(weight.max(1)));
    let time = after_last.max(virtual_time(first)).unwrap_or(0);
    Ok((time << REVISION_BITS) | (revision & ((1 << REVISION_BITS) - 1)))
}
