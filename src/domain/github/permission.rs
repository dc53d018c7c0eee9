//! What somebody may do in a repository.

use serde_json::Value;

/// A permission, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Nothing.
    None,
    /// May read.
    Read,
    /// May also manage issues.
    Triage,
    /// May also push.
    Write,
    /// May also manage the repository.
    Maintain,
    /// May do everything.
    Admin,
}

impl Permission {
    /// By GitHub's word for it.
    pub fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "none" => Self::None,
            "read" | "pull" => Self::Read,
            "triage" => Self::Triage,
            "write" | "push" => Self::Write,
            "maintain" => Self::Maintain,
            "admin" => Self::Admin,
            _ => return None,
        })
    }

    /// Out of the answer of `/collaborators/{login}/permission`: `role_name`, which knows all six words, else
    /// `permission`, which knows four and stands for a role of the organisation's own.
    pub fn of_answer(document: &Value) -> Option<Self> {
        ["role_name", "permission"].iter().find_map(|key| Self::of_word(document.get(key)?.as_str()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_says_more_than_the_permission() {
        for (document, want) in [
            (r#"{"permission":"write","role_name":"maintain"}"#, Some(Permission::Maintain)),
            (r#"{"permission":"read","role_name":"triage"}"#, Some(Permission::Triage)),
            (r#"{"permission":"write","role_name":"release-manager"}"#, Some(Permission::Write)),
            (r#"{"permission":"none"}"#, Some(Permission::None)),
            (r#"{"permission":"root"}"#, None),
            (r#"[]"#, None),
        ] {
            assert_eq!(Permission::of_answer(&serde_json::from_str(document).unwrap()), want, "{document}");
        }
        assert!(Permission::Triage < Permission::Write && Permission::None < Permission::Read);
    }
}
