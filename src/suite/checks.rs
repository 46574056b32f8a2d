//! Schemas compiled for checking values against them. Without the feature `json-schema` they are published and not
//! enforced.

#[cfg(feature = "json-schema")]
pub(super) use compiled::Checked;
#[cfg(not(feature = "json-schema"))]
pub(super) use unchecked::Checked;

#[cfg(feature = "json-schema")]
mod compiled {
    use jsonschema::{Draft, ValidationError, Validator};
    use serde_json::Value;

    use crate::suite::arguments::clamp;
    use crate::suite::{faults, schema};

    /// A compiled schema.
    pub(in crate::suite) struct Checked {
        validator: Validator,
        schema: Value,
    }

    impl Checked {
        /// Compiles the schema of arguments.
        ///
        /// # Errors
        ///
        /// What is wrong with it.
        pub(in crate::suite) fn input(schema: &Value) -> Result<Self, String> {
            Self::compile(schema).map_err(|fault| format!("the input schema {fault}"))
        }

        /// Compiles the schema of structured output.
        ///
        /// # Errors
        ///
        /// What is wrong with it.
        pub(in crate::suite) fn output(schema: &Value) -> Result<Self, String> {
            schema::check_output(schema)?;
            Self::compile(schema).map_err(|fault| format!("the output schema {fault}"))
        }

        fn compile(schema: &Value) -> Result<Self, String> {
            // Offline even if an application turns on the features that fetch (JSCH-07).
            let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
            let validator = options.build(schema).map_err(|error| refused(&error))?;
            let schema = schema.clone();
            Ok(Self { validator, schema })
        }

        /// What is wrong with a value: all of it, each with its path.
        pub(in crate::suite) fn fault(&self, value: &Value) -> Option<String> {
            if self.validator.is_valid(value) {
                return None;
            }
            Some(faults::describe(&self.validator, &self.schema, value))
        }
    }

    fn refused(error: &ValidationError<'_>) -> String {
        let place = error.instance_path().as_str();
        let what = clamp(&error.to_string());
        if matches!(error.kind(), jsonschema::error::ValidationErrorKind::Referencing(_)) {
            format!("has a `$ref` that leads nowhere: {what}; refer to its own `$defs`, nothing is fetched")
        } else {
            format!("is not valid at `{place}`: {what}")
        }
    }
}

#[cfg(not(feature = "json-schema"))]
mod unchecked {
    use serde_json::Value;

    use crate::suite::schema;

    /// A schema that is not enforced.
    pub(in crate::suite) struct Checked;

    impl Checked {
        #[allow(clippy::unnecessary_wraps)]
        pub(in crate::suite) fn input(_: &Value) -> Result<Self, String> {
            Ok(Self)
        }

        pub(in crate::suite) fn output(schema: &Value) -> Result<Self, String> {
            schema::check_output(schema).map(|()| Self)
        }

        #[allow(clippy::unused_self)]
        pub(in crate::suite) fn fault(&self, _: &Value) -> Option<String> {
            None
        }
    }
}
