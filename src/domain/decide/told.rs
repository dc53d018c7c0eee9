//! What decisions tell.
