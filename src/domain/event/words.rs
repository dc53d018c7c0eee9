//! Control words in a comment.
