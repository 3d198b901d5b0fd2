//! The pages over HTTP, as a browser sees them: with forms, with htmx, and with everything that people might type.

mod catalog;
mod editor;
mod instances;
mod safety;
mod support;
