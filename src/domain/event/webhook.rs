//! From GitHub's payloads to [`super::Event`].
