//! Blank forms: what a form of one type asks for, and what an answer is held against. Worked out once for each type of the
//! program, when it is first asked for, and not in each round (P2).

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use schemars::JsonSchema;
use serde_json::Value;

use super::arguments::Arguments;
use super::form;

/// What is known of a type, or why no client can hold a form of it.
pub(super) type Known = Arc<Result<Blank, String>>;

pub(super) struct Blank {
    pub(super) schema: Value,
    pub(super) answer: Arguments,
}

/// Of all servers of the process: a type is the same for each.
static BLANKS: LazyLock<RwLock<HashMap<TypeId, Known>>> = LazyLock::new(RwLock::default);

pub(super) fn of<T: JsonSchema + 'static>() -> Known {
    let id = TypeId::of::<T>();
    if let Some(known) = BLANKS.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return Arc::clone(known);
    }
    // Outside of the lock, since the schema is made by code of the type.
    let made = Arc::new(made::<T>());
    let mut blanks = BLANKS.write().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(blanks.entry(id).or_insert(made))
}

fn made<T: JsonSchema>() -> Result<Blank, String> {
    let schema = form::schema::<T>()?;
    let answer = Arguments::of(&schema, "the form", false)?;
    Ok(Blank { schema, answer })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use schemars::{Schema, SchemaGenerator, json_schema};

    use super::*;

    #[test]
    fn p2_the_schema_of_a_type_is_made_once_and_each_type_has_its_own() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        struct Counts<const N: u8>;
        impl<const N: u8> JsonSchema for Counts<N> {
            fn schema_name() -> Cow<'static, str> {
                "Counts".into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                MADE.fetch_add(1, Ordering::SeqCst);
                json_schema!({"type": "object", "properties": {"n": {"type": "integer", "minimum": N}}})
            }
        }
        for _ in 0..3 {
            assert_eq!(
                of::<Counts<1>>().as_ref().as_ref().ok().unwrap().schema["properties"]["n"]["minimum"],
                1
            );
            assert_eq!(
                of::<Counts<2>>().as_ref().as_ref().ok().unwrap().schema["properties"]["n"]["minimum"],
                2
            );
        }
        assert_eq!(MADE.load(Ordering::SeqCst), 2);
    }
}
