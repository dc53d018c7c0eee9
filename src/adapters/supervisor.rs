//! Word to a supervisor (systemd's notify protocol): ready, reading the configuration again, ending. Without one this
//! does nothing.

use sd_notify::NotifyState;

/// Everything serves.
pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The configuration is being read again; [`ready`] follows.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// It ends.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    // A supervisor that does not listen changes nothing for those who are served.
    let _ = sd_notify::notify(states);
}
