//! The OpenAPI document.

/// The OpenAPI 3.1 document of the API under a base path.
#[must_use]
pub fn openapi(_base_path: &str) -> utoipa::openapi::OpenApi {
    utoipa::openapi::OpenApiBuilder::new().build()
}
