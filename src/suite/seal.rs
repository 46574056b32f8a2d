//! Opaque tokens: what a server lets its clients carry from one request to the next, sealed so that it comes back
//! unread, unchanged, and only to where it belongs (PAGE-04, MRTR-09).
//!
//! A token is URL-safe Base64 without padding of: version (1 byte), id of the key (8), nonce (24), and the ciphertext of
//! expiry (8, milliseconds of Unix time) and payload, with its tag (16). The cipher is XChaCha20-Poly1305, whose nonces
//! are long enough to be random. Everything that is not in the token but must be the same again, the [`Binding`], is
//! authenticated with it.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};

use crate::handler::{Clock, Misconfigured, Principal, RpcError};

const VERSION: u8 = 1;

const KEY_ID: usize = 8;
const NONCE: usize = 24;
const EXPIRY: usize = 8;

/// What a token may be used for, and by whom: it opens only under exactly the binding that it was sealed under.
///
/// Neither the order nor the borders of the parts are lost: `with("ab").with("c")` is another binding than
/// `with("a").with("bc")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding(Vec<u8>);

impl Binding {
    /// Binds to a purpose, such as `cursor`, to the caller (by its [id](Principal::id); all anonymous callers are one),
    /// and to the method of the request.
    pub fn new(purpose: &str, principal: &Principal, method: &str) -> Self {
        let is_anonymous = [u8::from(principal.is_anonymous())];
        Self(Vec::new())
            .with(purpose)
            .with(is_anonymous)
            .with(principal.id().unwrap_or_default())
            .with(method)
    }

    /// Binds to one more thing that has to be the same again, such as the name of the tool.
    #[must_use]
    pub fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        // A length that is written before each part leaves one way only to read them.
        self.0.extend((part.len() as u64).to_be_bytes());
        self.0.extend(part);
        self
    }

    /// What is authenticated beside the text: the binding, behind the head of the token, which has a fixed length.
    fn under(&self, head: &[u8]) -> Vec<u8> {
        [head, &self.0].concat()
    }
}

/// The keys that seal tokens: the newest seals, all of them open. Cheap to clone; all clones are one ring, so that a
/// clone kept outside can [replace](KeyRing::replace) the keys of a running server.
///
/// A ring with a [random](KeyRing::random) key is what a [`Suite`](super::Suite) has by default. It is right for one
/// process: after a restart, and on another node behind the same load balancer, its tokens are not valid, and clients
/// have to start their list or their question again. **Several nodes need the same keys**, at least 32 bytes each from a
/// source of randomness, such as `openssl rand -base64 32`, given to all of them:
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::KeyRing;
///
/// # fn main() -> Result<(), ractor_mcp::Misconfigured> {
/// # let (new, old) = ("an example only, of 32 bytes or more", "another example of 32 bytes or more");
/// let keys = KeyRing::new([new, old])?;
/// let suite = Suite::new("notes", "1.0.0").keys(keys.clone());
/// // Later, without a restart:
/// keys.replace([new])?;
/// # Ok(())
/// # }
/// ```
///
/// To rotate on several nodes, add the new key behind the old one on every node, then put it first on every node, and
/// drop the old one when its last token has expired. No token is refused meanwhile.
///
/// Tokens expire by the system's clock, unless the ring is read by [another](KeyRing::with_clock).
#[derive(Clone)]
pub struct KeyRing {
    keys: Arc<RwLock<Arc<[Key]>>>,
    clock: Clock,
}

#[derive(Clone)]
struct Key {
    id: [u8; KEY_ID],
    cipher: XChaCha20Poly1305,
}

impl KeyRing {
    /// The shortest key, in bytes.
    pub const SHORTEST_KEY: usize = 32;

    /// The longest token, in bytes.
    pub const LONGEST_TOKEN: usize = 16 * 1024;

    /// How long a token is valid unless its maker says otherwise: 20 minutes.
    pub const LIFETIME: Duration = Duration::from_secs(20 * 60);

    /// A ring of these keys, the newest first.
    ///
    /// # Errors
    ///
    /// Without a key, and for each key of fewer than 32 bytes.
    pub fn new<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Result<Self, Misconfigured> {
        Ok(Self::of(checked(keys)?))
    }

    /// A ring of one random key, which dies with the process. Should the system have no randomness to give, the ring
    /// is empty: it seals nothing and opens nothing.
    pub fn random() -> Self {
        let mut key = [0; Self::SHORTEST_KEY];
        let keys = getrandom::fill(&mut key).map(|()| Key::of(&key));
        Self::of(keys.into_iter().collect())
    }

    fn of(keys: Arc<[Key]>) -> Self {
        Self { keys: Arc::new(RwLock::new(keys)), clock: Clock::system() }
    }

    /// The same ring, whose tokens expire by this clock. A [`Suite`](super::Suite) and [`Rounds`](super::Rounds) take that
    /// of the server ([`Options::clock`](crate::Options::clock)) by themselves; a handler that seals tokens of its own
    /// takes it from its [channel](crate::Channel::clock).
    #[must_use]
    pub fn with_clock(&self, clock: &Clock) -> Self {
        Self { keys: Arc::clone(&self.keys), clock: clock.clone() }
    }

    /// Takes these keys, the newest first, in place of those that there are. What a key that is gone has sealed opens
    /// no more.
    ///
    /// # Errors
    ///
    /// As for [`new`](KeyRing::new); the ring then stays as it was.
    pub fn replace<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> Result<(), Misconfigured> {
        let keys = checked(keys)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// Seals a payload under a binding for a while.
    ///
    /// # Errors
    ///
    /// When the token would be longer than [`LONGEST_TOKEN`](KeyRing::LONGEST_TOKEN), or the system has no randomness.
    pub fn seal(&self, binding: &Binding, payload: &[u8], lifetime: Duration) -> Result<String, SealError> {
        self.seal_until(binding, payload, self.now().saturating_add(millis(lifetime)))
    }

    /// The payload of a token that was sealed under this very binding and has not expired.
    ///
    /// # Errors
    ///
    /// One and the same for whatever is wrong, since whoever asks may be trying tokens out.
    pub fn open(&self, binding: &Binding, token: &str) -> Result<Vec<u8>, InvalidToken> {
        self.open_at(binding, token, self.now()).ok_or(InvalidToken)
    }

    fn now(&self) -> u64 {
        millis(self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    fn keys(&self) -> Arc<[Key]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn seal_until(&self, binding: &Binding, payload: &[u8], expiry: u64) -> Result<String, SealError> {
        let keys = self.keys();
        let key = keys.first().ok_or(SealError::NoRandomness)?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SealError::NoRandomness)?;
        let head = key.head();
        let text = [&expiry.to_be_bytes(), payload].concat();
        let sealed = Payload { msg: &text, aad: &binding.under(&head) };
        let ciphertext = key.cipher.encrypt(&XNonce::from(nonce), sealed);
        let ciphertext = ciphertext.map_err(|_| SealError::TooLong)?;
        let token = URL_SAFE_NO_PAD.encode([&head[..], &nonce, &ciphertext].concat());
        if token.len() > Self::LONGEST_TOKEN {
            return Err(SealError::TooLong);
        }
        Ok(token)
    }

    fn open_at(&self, binding: &Binding, token: &str, now: u64) -> Option<Vec<u8>> {
        if token.len() > Self::LONGEST_TOKEN {
            return None;
        }
        let token = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (head, rest) = token.split_first_chunk::<{ 1 + KEY_ID }>()?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE>()?;
        let keys = self.keys();
        let key = keys.iter().find(|key| key.head() == *head)?;
        let sealed = Payload { msg: ciphertext, aad: &binding.under(head) };
        let text = key.cipher.decrypt(&XNonce::from(*nonce), sealed).ok()?;
        let (expiry, payload) = text.split_first_chunk::<EXPIRY>()?;
        (now < u64::from_be_bytes(*expiry)).then(|| payload.to_vec())
    }
}

impl Key {
    /// Both the key of the cipher and its id are hashes of what was given: it may be longer than the cipher's key, and
    /// its id tells nothing of it.
    fn of(secret: &[u8]) -> Self {
        let cipher = XChaCha20Poly1305::new(&hash("seal", secret).into());
        let [a, b, c, d, e, f, g, h, ..] = hash("id", secret);
        let id = [a, b, c, d, e, f, g, h];
        Self { id, cipher }
    }

    fn head(&self) -> [u8; 1 + KEY_ID] {
        let [a, b, c, d, e, f, g, h] = self.id;
        [VERSION, a, b, c, d, e, f, g, h]
    }
}

fn hash(purpose: &str, secret: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(format!("ractor_mcp key {VERSION} {purpose}\0"));
    hash.chain_update(secret).finalize().into()
}

fn checked<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Result<Arc<[Key]>, Misconfigured> {
    let (mut ring, mut faults) = (Vec::new(), Vec::new());
    for (place, key) in keys.into_iter().enumerate() {
        match key.as_ref() {
            key if key.len() < KeyRing::SHORTEST_KEY => faults.push(format!(
                "key {} of the key ring has {} bytes; at least {} bytes of randomness would do",
                place + 1,
                key.len(),
                KeyRing::SHORTEST_KEY
            )),
            key => ring.push(Key::of(key)),
        }
    }
    if ring.is_empty() && faults.is_empty() {
        faults.push("the key ring has no key; at least one would do".to_owned());
    }
    Misconfigured::unless_empty(faults)?;
    Ok(ring.into())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Shows the ids of the keys, never a key.
impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.keys();
        let ids = ids.iter().map(|key| format!("{:016x}", u64::from_be_bytes(key.id)));
        write!(f, "KeyRing(")?;
        f.debug_list().entries(ids).finish()?;
        write!(f, ")")
    }
}

/// A token is not valid for the request that it came with: altered, expired, or made for another purpose, caller or
/// request, or by an unknown key. It does not say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor or the `requestState` is not valid for this request; start again without it")]
pub struct InvalidToken;

/// `-32602`.
impl From<InvalidToken> for RpcError {
    fn from(invalid: InvalidToken) -> Self {
        Self::invalid_params(invalid.to_string())
    }
}

/// Why nothing was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The token would be longer than [`KeyRing::LONGEST_TOKEN`].
    #[error("a sealed token has at most {} bytes; a smaller payload would do", KeyRing::LONGEST_TOKEN)]
    TooLong,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes, without which nothing is sealed")]
    NoRandomness,
}

/// `-32603`.
impl From<SealError> for RpcError {
    fn from(error: SealError) -> Self {
        Self::internal(error)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::handler::ManualClock;

    fn ring() -> KeyRing {
        KeyRing::new([[7; 32]]).unwrap()
    }

    fn alice() -> Binding {
        Binding::new("state", &Principal::new("alice"), "tools/call").with("order")
    }

    fn seal(ring: &KeyRing, payload: &[u8]) -> String {
        ring.seal(&alice(), payload, KeyRing::LIFETIME).unwrap()
    }

    #[test]
    fn a_token_opens_under_its_own_binding_only() {
        let token = seal(&ring(), b"round 2");
        assert_eq!(ring().open(&alice(), &token).unwrap(), b"round 2");
        let caller = Principal::new("alice");
        for other in [
            Binding::new("cursor", &caller, "tools/call").with("order"),
            Binding::new("state", &Principal::new("bob"), "tools/call").with("order"),
            Binding::new("state", &Principal::anonymous(), "tools/call").with("order"),
            Binding::new("state", &caller, "prompts/get").with("order"),
            Binding::new("state", &caller, "tools/call").with("refund"),
            Binding::new("state", &caller, "tools/call"),
            alice().with(""),
            Binding::new("state", &caller, "tools/callorder"),
            Binding::new("state", &caller, "tools/call").with("ord").with("er"),
        ] {
            assert_eq!(ring().open(&other, &token), Err(InvalidToken), "{other:?}");
        }
    }

    #[test]
    fn nobody_and_the_caller_without_a_name_are_two() {
        let nobody = Binding::new("p", &Principal::anonymous(), "m");
        assert_ne!(nobody, Binding::new("p", &Principal::new(""), "m"));
    }

    #[test]
    fn two_tokens_of_one_payload_have_nothing_in_common_but_their_key() {
        let (one, two) = (seal(&ring(), b"same"), seal(&ring(), b"same"));
        assert_eq!(one[..12], two[..12]);
        assert_ne!(one[12..], two[12..]);
        assert_ne!(one[60..], two[60..]);
    }

    #[test]
    fn a_token_expires() {
        let token = ring().seal_until(&alice(), b"x", 1_000).unwrap();
        assert!(ring().open_at(&alice(), &token, 999).is_some());
        assert!(ring().open_at(&alice(), &token, 1_000).is_none());
        let ever = ring().seal(&alice(), b"x", Duration::MAX).unwrap();
        assert!(ring().open(&alice(), &ever).is_ok());
        let never = ring().seal(&alice(), b"x", Duration::ZERO).unwrap();
        assert_eq!(ring().open(&alice(), &never), Err(InvalidToken));
    }

    #[test]
    fn a_token_expires_by_the_clock_that_the_ring_is_read_by() {
        let manual = ManualClock::new(UNIX_EPOCH);
        let (ring, clock) = (ring(), Clock::from(manual.clone()));
        let timed = ring.with_clock(&clock);
        let token = seal(&timed, b"x");
        manual.advance(KeyRing::LIFETIME - Duration::from_millis(1));
        assert!(timed.open(&alice(), &token).is_ok());
        manual.advance(Duration::from_millis(1));
        assert_eq!(timed.open(&alice(), &token), Err(InvalidToken));
        assert_eq!(ring.open(&alice(), &token), Err(InvalidToken), "long over by the system's clock");
        timed.replace([[8; 32]]).unwrap();
        assert!(ring.open(&alice(), &seal(&timed, b"x")).is_err());
        let now = timed.with_clock(&Clock::system());
        assert!(ring.open(&alice(), &seal(&now, b"x")).is_ok(), "one ring, and one set of keys");
    }

    #[test]
    fn o5_old_keys_open_and_the_newest_seals() {
        let (old, new) = ([1; 32], [2; 40]);
        let ring = KeyRing::new([old]).unwrap();
        let running = ring.clone();
        let token = seal(&running, b"x");
        ring.replace([&new[..], &old[..]]).unwrap();
        assert!(running.open(&alice(), &token).is_ok());
        let newer = seal(&running, b"x");
        assert!(KeyRing::new([old]).unwrap().open(&alice(), &newer).is_err());
        ring.replace([new]).unwrap();
        assert_eq!(running.open(&alice(), &token), Err(InvalidToken));
        assert!(running.open(&alice(), &newer).is_ok());
    }

    #[test]
    fn o5_another_node_needs_the_same_keys() {
        let token = seal(&ring(), b"x");
        assert!(KeyRing::new([[9; 32], [7; 32]]).unwrap().open(&alice(), &token).is_ok());
        assert_eq!(KeyRing::random().open(&alice(), &token), Err(InvalidToken));
    }

    #[test]
    fn o5_short_keys_are_refused_all_at_once_and_change_nothing() {
        let faults = KeyRing::new(["short", "also short"]).unwrap_err();
        assert_eq!(faults.faults().len(), 2);
        assert!(faults.faults()[1].contains("key 2 of the key ring has 10 bytes; at least 32"));
        assert!(KeyRing::new::<[u8; 32]>([]).is_err());
        let ring = ring();
        let token = seal(&ring, b"x");
        assert!(ring.replace([[0; 31]]).is_err());
        assert!(ring.open(&alice(), &token).is_ok());
    }

    #[test]
    fn keys_that_differ_behind_the_32nd_byte_are_two() {
        let [one, two] = ["1", "2"].map(|end| KeyRing::new([format!("{}{end}", "k".repeat(32))]).unwrap());
        assert!(two.open(&alice(), &seal(&one, b"x")).is_err());
    }

    #[test]
    fn a_token_has_a_longest_length() {
        let longest = KeyRing::LONGEST_TOKEN / 4 * 3 - 57;
        let token = seal(&ring(), &vec![0; longest]);
        assert_eq!(token.len(), KeyRing::LONGEST_TOKEN);
        assert!(ring().open(&alice(), &token).is_ok());
        let longer = ring().seal(&alice(), &vec![0; longest + 1], KeyRing::LIFETIME);
        assert_eq!(longer, Err(SealError::TooLong));
        assert!(ring().open(&alice(), &"A".repeat(KeyRing::LONGEST_TOKEN + 1)).is_err());
    }

    #[test]
    fn neither_a_key_nor_a_reason_is_shown() {
        let ring = KeyRing::new(["hunter2 hunter2 hunter2 hunter2 hunter2"]).unwrap();
        assert!(!format!("{ring:?}").contains("hunter2"));
        let error = RpcError::from(InvalidToken);
        assert_eq!(error.code(), -32602);
        assert_eq!(RpcError::from(SealError::TooLong).message(), "internal error");
    }

    type Parts = (String, Option<String>, String, Vec<Vec<u8>>);

    fn parts() -> impl Strategy<Value = Parts> {
        // Few letters, so that parts of equal text and other borders come up.
        let text = "[ab]{0,3}";
        let parts = vec(vec(97_u8..99, 0..3), 0..3);
        (text, proptest::option::of(text), text, parts)
    }

    fn binding((purpose, principal, method, parts): &Parts) -> Binding {
        let principal = principal.clone().map_or(Principal::anonymous(), Principal::new);
        let binding = Binding::new(purpose, &principal, method);
        parts.iter().fold(binding, Binding::with)
    }

    proptest! {
        #[test]
        fn opens_under_exactly_the_same_purpose_principal_method_and_parameters(
            one in parts(), other in parts(), payload in vec(any::<u8>(), 0..100),
        ) {
            let token = ring().seal(&binding(&one), &payload, KeyRing::LIFETIME).unwrap();
            prop_assert_eq!(ring().open(&binding(&one), &token), Ok(payload.clone()));
            let opened = ring().open(&binding(&other), &token);
            prop_assert_eq!(opened.is_ok(), one == other);
        }

        #[test]
        fn a_flipped_bit_anywhere_is_refused(payload in vec(any::<u8>(), 0..40), bit in any::<prop::sample::Index>()) {
            let token = seal(&ring(), &payload);
            let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
            let bit = bit.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(ring().open(&alice(), &URL_SAFE_NO_PAD.encode(bytes)).is_err());
        }

        #[test]
        fn another_character_anywhere_is_refused(payload in vec(any::<u8>(), 0..40), at in any::<prop::sample::Index>(), to in any::<char>()) {
            let token = seal(&ring(), &payload);
            let at = at.index(token.len());
            prop_assume!(token[at..=at] != *to.to_string());
            let altered = format!("{}{to}{}", &token[..at], &token[at + 1..]);
            prop_assert!(ring().open(&alice(), &altered).is_err());
            prop_assert!(ring().open(&alice(), &token[..at]).is_err());
        }

        #[test]
        fn anything_else_is_refused_without_a_panic(token in any::<String>(), bytes in vec(any::<u8>(), 0..200)) {
            prop_assert!(ring().open(&alice(), &token).is_err());
            prop_assert!(ring().open(&alice(), &URL_SAFE_NO_PAD.encode(&bytes)).is_err());
            let keyed = [&ring().keys()[0].head()[..], &bytes].concat();
            prop_assert!(ring().open(&alice(), &URL_SAFE_NO_PAD.encode(keyed)).is_err());
        }
    }
}
