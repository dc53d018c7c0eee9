//! The tmux adapter against a real tmux (the values are those of tmux 3.3a).

mod address;
mod dialogs;
mod ending;
mod input;
mod recovery;
mod spawning;
mod text;
mod unreachable;
mod waiting;
