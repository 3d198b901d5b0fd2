//! The pages over HTTP, as a browser sees them: with forms, with htmx, and with arbitrary input.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails at once")]

mod activity;
mod brand;
mod bulk;
mod catalog;
mod class_board;
mod classes;
mod classes_roster;
mod crashes;
mod creating;
mod editor;
mod extend;
mod forms;
mod hands;
mod history;
mod images;
mod instances;
mod join;
mod language_choice;
mod languages;
mod launch_links;
mod listing;
mod material;
mod overview;
mod parameters;
mod pod_fields;
mod restart;
mod safety;
mod saved_work;
mod search;
mod sharing;
mod snapshots;
mod sorting;
mod support;
mod suspend;
mod template_workshops;
mod template_workshops_turns;
mod waiting;
