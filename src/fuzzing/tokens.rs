//! Any text as a sealed token, and any bytes as what a token holds or is bound to.

use std::sync::LazyLock;

use crate::handler::Principal;
use crate::suite::{Binding, KeyRing};

/// A key that nothing could have sealed with before.
static RING: LazyLock<KeyRing> = LazyLock::new(KeyRing::random);

/// Opens any text as a token, and seals any bytes.
///
/// No text is a token; what is sealed comes back under its own binding and under no other; a token with a bit flipped is
/// none.
pub fn sealed_tokens(bytes: &[u8]) {
    let binding = Binding::new("fuzz", &Principal::new("alice"), "tools/call");
    let text = String::from_utf8_lossy(bytes);
    assert!(RING.open(&binding, &text).is_err(), "{text:?} is taken for a token");

    let Ok(token) = RING.seal(&binding, bytes, KeyRing::LIFETIME) else {
        assert!(bytes.len() > KeyRing::LONGEST_TOKEN / 2, "{} bytes are not sealed", bytes.len());
        return;
    };
    assert_eq!(RING.open(&binding, &token).as_deref(), Ok(bytes), "what was sealed");
    for other in [
        Binding::new("fuzz", &Principal::new("bob"), "tools/call"),
        Binding::new("fuzz", &Principal::anonymous(), "tools/call"),
        Binding::new("fuzz", &Principal::new("alice"), "prompts/get"),
        Binding::new("other", &Principal::new("alice"), "tools/call"),
        binding.clone().with(bytes),
    ] {
        assert!(RING.open(&other, &token).is_err(), "opened under {other:?}");
    }
    borders(&binding, bytes);
    let mut altered = token.into_bytes();
    let place = bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31) ^ usize::from(*byte));
    let (place, bit) = (place % altered.len(), place % 7);
    if let Some(byte) = altered.get_mut(place) {
        *byte ^= 1 << bit;
    }
    let altered = String::from_utf8_lossy(&altered);
    assert!(RING.open(&binding, &altered).is_err(), "a bit of the token was flipped at {place}");
}

/// The same bytes in other parts are another binding.
fn borders(binding: &Binding, bytes: &[u8]) {
    let (left, right) = bytes.split_at(bytes.len() / 2);
    let whole = binding.clone().with(bytes);
    assert_ne!(whole, binding.clone().with(left).with(right), "the borders of the parts are lost");
}
