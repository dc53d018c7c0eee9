//! Templates with named placeholders, ours and the operator's.

/// What a template may name: the work item's reference, the reference spoken about, the item's page, what arrived, the
/// mark of our own comments, the word of the fences, the messages between fences, and the delivery ids.
pub const PLACEHOLDERS: [&str; 8] = ["reference", "about", "url", "summary", "marker", "fence", "messages", "facts"];

const REQUIRED: &str = "messages";

/// A template that was checked: it names only what there is, and it shows the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(&'static str),
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A name we do not have.
    #[error("line {line}: there is no placeholder `{name}`; there are {}", PLACEHOLDERS.join(", "))]
    Unknown {
        /// Line, beginning at 1.
        line: usize,
        /// The name, cut to 40 characters.
        name: String,
    },
    /// `{{` that nothing closes on its line.
    #[error("line {line}: `{{{{` is not closed by `}}}}`")]
    Unclosed {
        /// Line, beginning at 1.
        line: usize,
    },
    /// The messages would never be shown.
    #[error("the template does not contain `{{{{{REQUIRED}}}}}`, so the agent would never see what was said")]
    NoMessages,
}

impl Template {
    /// Reads a template: text with `{{name}}` in it, from [`PLACEHOLDERS`].
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let line = 1 + text[..text.len() - after.len()].matches('\n').count();
            let inner = after.split_once("}}").filter(|(name, _)| !name.contains('\n'));
            let (name, behind) = inner.ok_or(TemplateError::Unclosed { line })?;
            let known = PLACEHOLDERS.into_iter().find(|known| *known == name.trim());
            let unknown = || TemplateError::Unknown { line, name: name.trim().chars().take(40).collect() };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Placeholder(known.ok_or_else(unknown)?));
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        if parts.contains(&Part::Placeholder(REQUIRED)) { Ok(Self(parts)) } else { Err(TemplateError::NoMessages) }
    }

    /// The built-in template of a new conversation.
    pub(super) fn first() -> Self {
        built_in(include_str!("first.txt"))
    }

    /// The built-in template of later events.
    pub(super) fn event() -> Self {
        built_in(include_str!("event.txt"))
    }

    /// The text with every placeholder replaced once; what comes in is not looked at again.
    pub(super) fn fill(&self, value: impl Fn(&'static str) -> String) -> String {
        self.0.iter().fold(String::new(), |mut out, part| {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Placeholder(name) => out.push_str(&value(name)),
            }
            out
        })
    }
}

fn built_in(text: &str) -> Template {
    // A test reads both; should one ever be broken, the messages alone are still delivered.
    Template::parse(text).unwrap_or_else(|_| Template(vec![Part::Placeholder(REQUIRED)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_templates_are_good() {
        for text in [include_str!("first.txt"), include_str!("event.txt")] {
            assert!(Template::parse(text).is_ok(), "{:?}", Template::parse(text));
        }
    }

    #[test]
    fn templates_name_only_what_there_is() {
        let unknown = |line, name: &str| Err(TemplateError::Unknown { line, name: name.to_owned() });
        assert_eq!(Template::parse("a\n{{title}} {{messages}}"), unknown(2, "title"));
        assert_eq!(Template::parse("{{}}{{messages}}"), unknown(1, ""));
        assert_eq!(Template::parse("{{messages}}\n\n{{a"), Err(TemplateError::Unclosed { line: 3 }));
        assert_eq!(Template::parse("{{messages\n}}"), Err(TemplateError::Unclosed { line: 1 }));
        assert_eq!(Template::parse("hello"), Err(TemplateError::NoMessages));
        assert!(Template::parse("{ {messages}").is_err());
        let message = Template::parse("x").unwrap_err().to_string();
        assert!(message.contains("`{{messages}}`"), "{message}");
    }

    #[test]
    fn values_are_not_read_as_templates() {
        let template = Template::parse("{{ reference }}: {{messages}}{{messages}}!").unwrap();
        assert_eq!(
            template.fill(|name| format!("<{name}{{{{facts}}}}>")),
            "<reference{{facts}}>: <messages{{facts}}><messages{{facts}}>!"
        );
    }
}
