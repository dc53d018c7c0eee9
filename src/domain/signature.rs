//! Who may speak through the webhook: signatures over the raw bytes, and the proof that a body was let in.
//!
//! Events are parsed from a [`TrustedBody`] and from nothing else. Whatever is wrong with a signature, the answer to
//! the sender is the same; only the log tells the reasons apart (events rules, section 1).

use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::reference::hex;

type HmacSha256 = Hmac<Sha256>;

const PREFIX: &[u8] = b"sha256=";
const DIGEST_BYTES: usize = 32;

/// The webhook secrets that are valid now; several while one is being replaced. Never empty, never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets(Vec<Vec<u8>>);

impl Secrets {
    /// At least one secret, none of them empty: a key of no bytes is one everybody knows.
    pub fn new(secrets: Vec<Vec<u8>>) -> Result<Self, SecretError> {
        match secrets.iter().position(Vec::is_empty) {
            _ if secrets.is_empty() => Err(SecretError::None),
            Some(index) => Err(SecretError::Empty { number: index + 1 }),
            None => Ok(Self(secrets)),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} hidden)", self.0.len())
    }
}

/// Why there are no secrets to check with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// None was given.
    #[error("no webhook secret is configured")]
    None,
    /// One of them has no bytes.
    #[error("webhook secret number {number} is empty")]
    Empty {
        /// Which one, beginning at 1.
        number: usize,
    },
}

/// The secret a file holds: its bytes without one final LF or CRLF, and whether there was one, for `doctor`.
/// Leading and inner white space stays.
pub fn secret_from_file_bytes(bytes: &[u8]) -> (&[u8], bool) {
    match bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")) {
        Some(secret) => (secret, true),
        None => (bytes, false),
    }
}

/// The value of `X-Hub-Signature-256` for `body`, as GitHub makes it.
pub fn sign(secret: &[u8], body: &[u8]) -> String {
    format!("sha256={}", hex(&mac(secret, body).finalize().into_bytes()))
}

/// What is let in: signed bodies, or, on loopback and when the operator said so, any.
#[derive(Debug, Clone)]
pub struct Gate(GateKind);

#[derive(Debug, Clone)]
enum GateKind {
    Signed(Secrets),
    Unsigned(UnsignedPermit),
}

/// Why a receiver must not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// No secret, and nobody allowed to go without.
    #[error("no webhook secret is configured; set one, or allowUnsigned on a loopback address")]
    NoSecret,
    /// No secret on an address others can reach.
    #[error(
        "no webhook secret is configured and {address} is not a loopback address; unsigned events are refused there"
    )]
    NotLoopback {
        /// The address that was to be bound.
        address: IpAddr,
    },
    /// A secret without bytes.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl Gate {
    /// The gate of a receiver at `address`. With a secret, signatures are always checked.
    pub fn new(secrets: Vec<Vec<u8>>, allow_unsigned: bool, address: IpAddr) -> Result<Self, GateError> {
        if !secrets.is_empty() {
            return Ok(Self(GateKind::Signed(Secrets::new(secrets)?)));
        }
        UnsignedPermit::new(allow_unsigned, address).map(|permit| Self(GateKind::Unsigned(permit)))
    }

    /// Whether unsigned bodies pass, for `doctor` and the start-up warning.
    pub const fn is_unsigned(&self) -> bool {
        matches!(self.0, GateKind::Unsigned(_))
    }

    /// Lets a body in or says why not; see [`verify`].
    pub fn admit<'h>(
        &self,
        signatures: impl IntoIterator<Item = &'h [u8]>,
        body: Bytes,
    ) -> Result<TrustedBody, SignatureError> {
        match &self.0 {
            GateKind::Signed(secrets) => verify(secrets, signatures, body),
            GateKind::Unsigned(permit) => Ok(TrustedBody::unsigned(*permit, body)),
        }
    }
}

/// The operator's word that unsigned events are taken, possible on loopback only.
#[derive(Debug, Clone, Copy)]
pub struct UnsignedPermit(());

impl UnsignedPermit {
    /// A permit for a receiver at `address` without a secret.
    pub fn new(allow_unsigned: bool, address: IpAddr) -> Result<Self, GateError> {
        match (address.to_canonical().is_loopback(), allow_unsigned) {
            (false, _) => Err(GateError::NotLoopback { address }),
            (true, false) => Err(GateError::NoSecret),
            (true, true) => Ok(Self(())),
        }
    }
}

/// The bytes of a body that was let in; the only thing events are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedBody(Bytes);

impl TrustedBody {
    /// A body nobody signed, under the operator's permit.
    pub const fn unsigned(_permit: UnsignedPermit, body: Bytes) -> Self {
        Self(body)
    }

    /// The answer to a request we made ourselves with our own token over a verified connection.
    pub const fn from_own_request(answer: Bytes) -> Self {
        Self(answer)
    }

    /// A body that was let in before and was kept whole by our own store.
    pub const fn kept(body: Bytes) -> Self {
        Self(body)
    }

    /// The bytes, exactly as they were received.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Why a signature is not accepted. The text is for the log; it holds neither digest nor secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No SHA-256 signature; SHA-1 alone is none.
    #[error("no X-Hub-Signature-256 header (SHA-1 alone is not accepted); does the hook have a secret?")]
    Missing,
    /// More than one value.
    #[error("several X-Hub-Signature-256 values")]
    Several,
    /// Not the one form GitHub sends.
    #[error("X-Hub-Signature-256 is not `sha256=` and 64 hex digits")]
    Malformed,
    /// A well-formed signature of something else, or with another secret.
    #[error("body bytes differ from what was signed; is a proxy rewriting it? (or the secret is another one)")]
    Mismatch,
}

/// Checks the values of `X-Hub-Signature-256` against the raw body, in constant time; any valid secret will do.
pub fn verify<'h>(
    secrets: &Secrets,
    signatures: impl IntoIterator<Item = &'h [u8]>,
    body: Bytes,
) -> Result<TrustedBody, SignatureError> {
    let mut signatures = signatures.into_iter();
    let signature = signatures.next().ok_or(SignatureError::Missing)?;
    if signatures.next().is_some() {
        return Err(SignatureError::Several);
    }
    let digest = parse_signature(signature).ok_or(SignatureError::Malformed)?;
    // All secrets are tried whatever the first says, so that the time tells nothing about which one matched.
    let matched = secrets.0.iter().fold(false, |seen, secret| mac(secret, &body).verify_slice(&digest).is_ok() | seen);
    if matched { Ok(TrustedBody(body)) } else { Err(SignatureError::Mismatch) }
}

/// The digest in `sha256=<64 hex digits>`, digits in either case.
fn parse_signature(value: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    let digits = value.strip_prefix(PREFIX).filter(|digits| digits.len() == 2 * DIGEST_BYTES)?;
    let mut digest = [0; DIGEST_BYTES];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(digest)
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn mac(secret: &[u8], body: &[u8]) -> HmacSha256 {
    // HMAC takes keys of any length (RFC 2104, section 2), so this cannot fail.
    let mut mac = HmacSha256::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(body);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../tests/data/webhook-signatures.tsv");
    const SECRET: &[u8] = b"It's a Secret to Everybody";

    fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter_map(nibble).collect();
        digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn secrets(secret: &[u8]) -> Secrets {
        Secrets::new(vec![secret.to_vec()]).unwrap()
    }

    fn check(headers: &[&str], body: &[u8]) -> Result<TrustedBody, SignatureError> {
        verify(&secrets(SECRET), headers.iter().map(|value| value.as_bytes()), Bytes::copy_from_slice(body))
    }

    /// Runs the rows whose id begins with `id`; a row is good when its verdict says authentic.
    fn run_rows(id: &str) {
        let rows: Vec<Vec<&str>> =
            TABLE.lines().filter(|line| line.starts_with(id)).map(|line| line.split('\t').collect()).collect();
        assert!(!rows.is_empty(), "no rows {id}");
        for row in rows {
            let [name, secret, body, headers, verdict] = row[..] else { panic!("row {row:?}") };
            let values: Vec<&[u8]> = headers
                .split(" ; ")
                .filter_map(|header| header.strip_prefix("X-Hub-Signature-256:"))
                .map(|value| value.split('(').next().unwrap_or("").trim().as_bytes())
                .collect();
            let secret = unhex(secret);
            let result = verify(&secrets(secret_from_file_bytes(&secret).0), values, Bytes::from(unhex(body)));
            assert_eq!(result.is_ok(), verdict.starts_with("authentic"), "{name}: {verdict}: {result:?}");
        }
    }

    #[test]
    fn w01_the_vendors_vector() {
        run_rows("W01");
        let good = sign(SECRET, b"Hello, World!");
        assert_eq!(good, "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
        assert!(check(&[&good], b"Hello, World!").is_ok());
        assert!(check(&[&good.to_uppercase().replace("SHA", "sha")], b"Hello, World!").is_ok());
        assert_eq!(check(&[&good], b"Hello, World?"), Err(SignatureError::Mismatch));
    }

    #[test]
    fn w02_raw_utf8_bytes_are_signed() {
        run_rows("W02");
    }

    #[test]
    fn w03_the_form_bytes_are_signed() {
        run_rows("W03");
    }

    #[test]
    fn w04_wrong_lengths_are_refused() {
        run_rows("W04");
        for bad in
            ["", "sha256=", "sha256=abc", &format!("sha256={}", "g".repeat(64)), &format!("sha256={}", "é".repeat(32))]
        {
            assert_eq!(check(&[bad], b"x"), Err(SignatureError::Malformed), "{bad}");
        }
    }

    #[test]
    fn w06_the_algorithm_is_not_taken_from_the_header() {
        run_rows("W06");
        let good = sign(SECRET, b"x");
        for bad in [good.replace("sha256", "SHA256"), format!(" {good}"), format!("{good} "), format!("{good},{good}")]
        {
            assert_eq!(check(&[&bad], b"x"), Err(SignatureError::Malformed), "{bad}");
        }
    }

    #[test]
    fn w07_sha1_never_helps() {
        run_rows("W07");
        assert_eq!(check(&[], b"x"), Err(SignatureError::Missing));
    }

    #[test]
    fn w08_one_final_line_end_of_a_secret_file_is_dropped() {
        run_rows("W08");
        for (file, secret, dropped) in [
            (&b"s\n"[..], &b"s"[..], true),
            (b"s\r\n", b"s", true),
            (b"s\n\n", b"s\n", true),
            (b" s ", b" s ", false),
            (b"s\r", b"s\r", false),
            (b"\n", b"", true),
        ] {
            assert_eq!(secret_from_file_bytes(file), (secret, dropped), "{file:?}");
        }
    }

    #[test]
    fn w10_an_empty_body_can_be_signed() {
        run_rows("W10");
    }

    #[test]
    fn w11_equal_json_with_other_bytes_is_refused_with_a_hint() {
        run_rows("W11");
        let error = check(&[&sign(SECRET, br#"{"a":1}"#)], br#"{"a": 1}"#).unwrap_err();
        assert!(error.to_string().contains("is a proxy rewriting it?"));
    }

    #[test]
    fn several_signatures_are_refused_even_when_one_is_good() {
        let good = sign(SECRET, b"x");
        assert_eq!(check(&[&good, &good], b"x"), Err(SignatureError::Several));
    }

    #[test]
    fn rotation_accepts_every_valid_secret_and_debug_shows_none() {
        let two = Secrets::new(vec![b"old".to_vec(), b"new".to_vec()]).unwrap();
        for secret in [&b"old"[..], b"new"] {
            let value = sign(secret, b"x");
            assert!(verify(&two, [value.as_bytes()], Bytes::from_static(b"x")).is_ok());
        }
        let value = sign(b"other", b"x");
        assert_eq!(verify(&two, [value.as_bytes()], Bytes::from_static(b"x")), Err(SignatureError::Mismatch));
        let shown = format!("{two:?} {two:#?} {:?}", Gate(GateKind::Signed(two.clone())));
        assert!(!shown.contains("old") && !shown.contains("111, 108"), "{shown}");
    }

    #[test]
    fn k27_without_a_secret_nothing_is_let_in_unless_allowed_on_loopback() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(Secrets::new(vec![]), Err(SecretError::None));
        assert_eq!(Gate::new(vec![], false, ip("127.0.0.1")).unwrap_err(), GateError::NoSecret);
        for address in ["0.0.0.0", "192.168.1.2", "::", "::ffff:10.0.0.1"] {
            for allow in [false, true] {
                let error = Gate::new(vec![], allow, ip(address)).unwrap_err();
                assert_eq!(error, GateError::NotLoopback { address: ip(address) });
            }
        }
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let gate = Gate::new(vec![], true, ip(address)).unwrap();
            assert!(gate.is_unsigned() && gate.admit([], Bytes::from_static(b"x")).is_ok());
        }
        let signed = Gate::new(vec![b"s".to_vec()], true, ip("127.0.0.1")).unwrap();
        assert_eq!(signed.admit([], Bytes::from_static(b"x")), Err(SignatureError::Missing));
        assert!(matches!(Gate::new(vec![vec![]], true, ip("127.0.0.1")), Err(GateError::Secret(_))));
    }
}
