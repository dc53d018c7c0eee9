//! The configuration that `the-loop init` writes: what has to be decided, and nothing that the defaults say already.

/// The text; `repository` is the one that events are taken from, as `repositories` lists it.
pub fn starter(repository: Option<&str>) -> String {
    let repositories = repository.unwrap_or_default();
    format!(
        "\
# the-loop. `the-loop config show` prints every value that holds, `the-loop config check` what is wrong.
version: \"{version}\"

# Events of other repositories are refused; empty takes whatever arrives signed.
repositories: [{repositories}]

routing:
  # Only these logins can start, stop or speak to an agent; empty admits nobody.
  authorizedUsers: []
  # claude, codex, or one of your own under `harnesses`.
  defaultHarness: claude

# GitHub signs every delivery with a secret: a file that only you can read, or the variable
# THE_LOOP_GH_WEBHOOK_SECRET where the daemon is started.
# webhooks:
#   ghWebhook: {{secretFile: ~/.config/the-loop/webhook-secret}}
",
        version = super::version::CURRENT
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::config::read;

    #[test]
    fn it_reads_without_a_word() {
        for (repository, count) in [(None, 0), (Some("octo/hello"), 1), (Some("ghe.example:8443/octo/hello"), 1)] {
            let text = starter(repository);
            let reading = read(&text).unwrap();
            assert!(reading.notes.is_empty());
            assert_eq!(reading.config.repositories.len(), count, "{text}");
            // What stands behind the marks is right as well.
            let secret = text.replace("# webhooks:", "webhooks:").replace("#   ghWebhook", "  ghWebhook");
            assert!(read(&secret).is_ok());
        }
    }
}
