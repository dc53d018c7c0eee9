//! Use cases: load, call the pure function, save, in one transaction.
