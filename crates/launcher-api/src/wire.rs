//! Request and response bodies, and their schemas.

mod activity;
mod class;
mod image;
mod instance;
mod launch_parameter;
mod material;
mod named;
mod parameters;
mod person;
mod requests;
mod snapshot;
mod template;
mod template_body;
mod time;
mod volume;

pub(crate) use activity::ActivityResponse;
pub(crate) use class::ClassExtensionResponse;
pub(crate) use image::TemplateImageResponse;
pub(crate) use instance::WorkshopInstanceResponse;
pub(crate) use parameters::StateParameter;
pub(crate) use person::MeResponse;
pub(crate) use requests::{ExtendBody, ExtendClassBody, LaunchBody};
pub(crate) use snapshot::SnapshotResponse;
pub(crate) use template::WorkshopTemplateResponse;
pub(crate) use template_body::{
    TemplateBody, TemplatePatch, TemplateReplacement, template_body_schema, template_patch_schema,
    template_replacement_schema,
};
pub(crate) use volume::VolumeResponse;
