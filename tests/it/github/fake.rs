//! The fake GitHub itself: what it answers is what GitHub documents.
