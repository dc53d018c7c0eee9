//! The one concrete store; the only place that names redb.
