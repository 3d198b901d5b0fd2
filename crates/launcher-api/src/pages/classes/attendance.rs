//! `GET /classes/{class}/attendance.csv`: who was there, as a table for spreadsheets.

use std::collections::HashMap;

use axum::response::Response;
use jiff::Timestamp;
use launcher_domain::{EmailAddress, Member};
use launcher_service::Attendance;

use crate::pages::Visitor;
use crate::pages::roster::spreadsheet;
use crate::permission::{InClass, WatchClass};
use crate::problem::Problem;
use crate::wire::rfc3339;

const HEADER: [&str; 7] = ["email", "name", "role", "joined", "first_launch", "last_activity", "workshops"];

/// Serves the table: current members by address, then other people who launched.
pub(crate) async fn export(visitor: InClass<WatchClass, Visitor>) -> Result<Response, Problem> {
    let (launcher, access) = (&visitor.launcher, &visitor.access);
    let (members, launches) = (launcher.members(access).await?, launcher.attendance(access).await?);
    let now = launcher.clock().now();
    let time = |time: Option<Timestamp>| time.map(rfc3339).unwrap_or_default();
    let row = |email: &EmailAddress, [name, role, joined]: [String; 3], launches: Option<&Attendance>| {
        let first = launches.map(|launches| launches.first_launch);
        // Without the bar above the app, a workshop that has not ended counts as used.
        let last = launches.and_then(|launches| match launches.last_use {
            None if launches.is_active => Some(now),
            None => launches.last_end,
            used => used,
        });
        let workshops = launches.map_or(0, |launches| launches.workshops);
        [email.to_string(), name, role, joined, time(first), time(last), workshops.to_string()]
    };
    let mut by_email: HashMap<EmailAddress, Attendance> =
        launches.into_iter().map(|launches| (launches.email.clone(), launches)).collect();
    let mut rows = Vec::with_capacity(members.len());
    for Member { email, name, role, joined_at, .. } in members {
        let launches = by_email.remove(&email);
        rows.push(row(&email, [name, role.as_str().to_owned(), rfc3339(joined_at)], launches.as_ref()));
    }
    let mut others: Vec<_> = by_email.into_values().collect();
    others.sort_by(|one, other| one.email.cmp(&other.email));
    rows.extend(others.iter().map(|launches| row(&launches.email, Default::default(), Some(launches))));
    spreadsheet(&format!("{}-attendance.csv", access.class().content.slug), HEADER, rows)
}
