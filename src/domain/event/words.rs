//! Control words in a comment.
use crate::domain::policy::Keywords;
use crate::domain::portable::Command;
pub enum Words {
    Plain,
    Ambiguous,
    Command { word: Command, rest: String },
}
pub fn read(_t: &str, _k: &Keywords) -> Words {
    Words::Plain
}
pub fn has_marker(t: &str) -> bool {
    t.contains("<!-- the-loop:agent-comment -->")
}
