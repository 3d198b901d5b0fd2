//! Schemas of query parameters.

use std::borrow::Cow;

use launcher_domain::InstanceState;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The values of the parameter `state`.
#[derive(Debug)]
pub(crate) enum StateParameter {}

impl PartialSchema for StateParameter {
    fn schema() -> RefOr<Schema> {
        let names = ["live", "ended", "all"].into_iter().chain(InstanceState::ALL.map(InstanceState::as_str));
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

impl ToSchema for StateParameter {
    fn name() -> Cow<'static, str> {
        "StateParameter".into()
    }
}
