//! Telling, over a scripted GitHub.
