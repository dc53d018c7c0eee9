//! Tables and properties: what is told when.
