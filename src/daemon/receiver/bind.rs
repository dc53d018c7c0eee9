//! Whether a receiver may listen at an address with what it has to tell friend from stranger.

use std::net::IpAddr;

/// Why a receiver must not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindRefusal {
    /// Nothing to check signatures with, and nobody said that is meant.
    #[error("no webhook secret is set, so anybody could send events to `{0}`")]
    NoSecret(IpAddr),
    /// Unsigned events are asked for at an address other machines reach.
    #[error("unsigned events are only possible on a loopback address, not on `{0}`")]
    UnsignedBeyondLoopback(IpAddr),
}

/// The events rules, section 1: no secret, no receiver, unless `allowUnsigned` is set and the address is loopback.
pub fn check_bind(address: IpAddr, has_secret: bool, allow_unsigned: bool) -> Result<(), BindRefusal> {
    let loopback = address.to_canonical().is_loopback();
    match (has_secret, allow_unsigned, loopback) {
        (true, _, _) | (false, true, true) => Ok(()),
        (false, false, _) => Err(BindRefusal::NoSecret(address)),
        (false, true, false) => Err(BindRefusal::UnsignedBeyondLoopback(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k27_without_a_secret_only_a_loopback_that_was_asked_for() {
        let loopback = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"];
        let beyond = ["0.0.0.0", "::", "192.168.1.4", "10.0.0.1", "8.8.8.8", "::ffff:10.0.0.1", "fe80::1", "128.0.0.1"];
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for address in loopback.map(ip) {
            assert_eq!(check_bind(address, true, false), Ok(()));
            assert_eq!(check_bind(address, true, true), Ok(()));
            assert_eq!(check_bind(address, false, true), Ok(()));
            assert_eq!(check_bind(address, false, false), Err(BindRefusal::NoSecret(address)));
        }
        for address in beyond.map(ip) {
            assert_eq!(check_bind(address, true, false), Ok(()));
            assert_eq!(check_bind(address, false, false), Err(BindRefusal::NoSecret(address)));
            assert_eq!(check_bind(address, false, true), Err(BindRefusal::UnsignedBeyondLoopback(address)));
        }
    }
}
