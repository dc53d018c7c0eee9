//! Tokens and where they come from: a variable of that host's own, else what `gh` keeps for that host.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use ureq::http::HeaderValue;

use crate::adapters::{environment, processes};
use crate::domain::secrets::WITHHELD;

/// How long `gh` may take.
const GH_LIMIT: Duration = Duration::from_secs(5);
/// `gh` is not asked more often than this.
const GH_AGAIN: Duration = Duration::from_secs(60);
/// Variables out of which `gh` would answer for any host. Which variable is for which host is said by the
/// configuration alone, so `gh` is only asked what it keeps itself.
const NOT_FOR_GH: [&str; 4] = ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// A token. It is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token out of a variable or of what a program says; `None` for nothing, and for what is no token.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// `Authorization`, marked so that whatever shows headers leaves it out.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A body without this token: what answers an error may show what it was asked with, and its words are shown here.
    pub(super) fn kept_from(&self, body: Vec<u8>) -> Vec<u8> {
        match std::str::from_utf8(&body) {
            Ok(text) if text.contains(&self.0) => text.replace(&self.0, WITHHELD).into_bytes(),
            _ => body,
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Where the token of one host comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// A variable holds it.
    Variable(Token),
    /// `gh` may keep one.
    Gh(Gh),
}

impl Source {
    /// Of `host`: the first of `variables` that is set, else `gh`.
    pub fn of(host: &str, variables: &[String], environment: &[(OsString, OsString)]) -> Self {
        let value = |name: &String| environment.iter().find(|(key, _)| key == name.as_str()).map(|(_, value)| value);
        let token = |name: &String| Token::parse(value(name)?.to_str()?);
        match variables.iter().find_map(token) {
            Some(token) => Self::Variable(token),
            None => {
                let is_blank = |value: &OsString| value.to_str().is_some_and(|value| value.trim().is_empty());
                let unusable = variables.iter().find(|name| value(name).is_some_and(|value| !is_blank(value)));
                Self::Gh(Gh { unusable: unusable.cloned(), ..Gh::new(host, environment) })
            }
        }
    }

    /// The variable that was to hold the token and holds something that is none.
    pub fn unusable(&self) -> Option<&str> {
        match self {
            Self::Variable(_) => None,
            Self::Gh(gh) => gh.unusable.as_deref(),
        }
    }

    /// The token, when there is one.
    pub fn token(&self) -> Option<Token> {
        match self {
            Self::Variable(token) => Some(token.clone()),
            Self::Gh(gh) => gh.token(),
        }
    }

    /// Whether a token is known; nobody is asked for one.
    pub fn has_token(&self) -> bool {
        match self {
            Self::Variable(_) => true,
            // While `gh` is being asked there is none, or none that is taken.
            Self::Gh(gh) => gh.known.try_lock().is_ok_and(|known| known.token.is_some()),
        }
    }

    /// The host did not take `token`: where it came from is asked again.
    pub fn refused(&self, token: &Token) {
        if let Self::Gh(gh) = self {
            gh.refused(token);
        }
    }
}

/// `gh auth token` of one host.
pub(super) struct Gh {
    host: String,
    environment: Vec<(OsString, OsString)>,
    /// The variable that comes before it and holds no token.
    unusable: Option<String>,
    known: Mutex<Known>,
}

/// What `gh` said.
#[derive(Debug, Default)]
struct Known {
    token: Option<Token>,
    /// Whether the host refused it since.
    is_refused: bool,
    asked: Option<Instant>,
}

impl Known {
    /// Whether `gh` is to be asked, so long after it was asked last: for want of a token that is taken, and not at once.
    fn is_wanting(&self, ago: Option<Duration>) -> bool {
        (self.token.is_none() || self.is_refused) && ago.is_none_or(|ago| ago >= GH_AGAIN)
    }
}

impl Gh {
    fn new(host: &str, environment: &[(OsString, OsString)]) -> Self {
        let stays = |name: &OsString| !NOT_FOR_GH.iter().any(|not| name == not);
        let environment = environment.iter().filter(|(name, _)| stays(name)).cloned().collect();
        Self { host: host.to_owned(), environment, unusable: None, known: Mutex::default() }
    }

    /// What `gh` says, or said last.
    fn token(&self) -> Option<Token> {
        let mut known = self.known();
        if known.is_wanting(known.asked.map(|asked| asked.elapsed())) {
            *known = Known { token: self.ask(), is_refused: false, asked: Some(Instant::now()) };
        }
        known.token.clone()
    }

    fn refused(&self, token: &Token) {
        let mut known = self.known();
        if known.token.as_ref() == Some(token) {
            known.is_refused = true;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, without a shell and within a limit; what it started ends with it.
    fn ask(&self) -> Option<Token> {
        if !environment::can_run("gh", &self.environment) {
            return None;
        }
        let mut command = Command::new("gh");
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(["auth", "token", "--hostname", &self.host]).env("GH_PROMPT_DISABLED", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().ok()?;
        let (pid, (answer, answered)) = (child.id(), mpsc::channel());
        // Nobody listens any more when the limit has passed.
        let waits = move || drop(answer.send(child.wait_with_output()));
        std::thread::Builder::new().name("gh".into()).spawn(waits).ok()?;
        let Ok(output) = answered.recv_timeout(GH_LIMIT) else {
            processes::kill_group(pid);
            return None;
        };
        let output = output.ok().filter(|output| output.status.success())?;
        Token::parse(std::str::from_utf8(&output.stdout).ok()?)
    }
}

impl fmt::Debug for Gh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gh").field("host", &self.host).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(variables: &[&str], environment: &[(&str, &str)]) -> Option<Token> {
        let variables: Vec<String> = variables.iter().map(|name| (*name).to_owned()).collect();
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Source::of("ghe.example", &variables, &environment).token()
    }

    #[test]
    fn the_first_variable_that_holds_something_wins() {
        let environment = [("A", ""), ("B", " \n"), ("C", "ghp_c\n"), ("D", "ghp_d"), ("E", "two words"), ("PATH", "")];
        assert_eq!(token(&["A", "B", "E", "C", "D"], &environment), Token::parse("ghp_c"));
        assert_eq!(token(&["A", "X"], &environment), None);
        assert_eq!(token(&[], &environment), None);
    }

    #[test]
    fn a_variable_that_holds_no_token_is_named() {
        let unusable = |environment: &[(&str, &str)]| {
            let environment: Vec<_> = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
            let source = Source::of("ghe.example", &["A".to_owned(), "B".to_owned()], &environment);
            source.unusable().map(str::to_owned)
        };
        assert_eq!(unusable(&[("A", "ghp_one\nghp_two")]), Some("A".into()));
        assert_eq!(unusable(&[("A", " \n"), ("B", "two words")]), Some("B".into()));
        assert_eq!(unusable(&[("A", "two words"), ("B", "ghp_b")]), None);
        assert_eq!(unusable(&[("A", "")]), None);
    }

    #[test]
    fn gh_is_asked_again_after_a_minute_when_its_token_is_not_taken() {
        let token = Token::parse("gho_x");
        let known = |token: &Option<Token>, is_refused| Known { token: token.clone(), is_refused, asked: None };
        for (known, wanting) in
            [(known(&None, false), true), (known(&token, true), true), (known(&token, false), false)]
        {
            assert_eq!(known.is_wanting(None), wanting);
            assert_eq!(known.is_wanting(Some(GH_AGAIN)), wanting);
            assert!(!known.is_wanting(Some(GH_AGAIN - Duration::from_millis(1))));
        }
        let gh = Gh::new("ghe.example", &[]);
        gh.known().token.clone_from(&token);
        gh.refused(&Token("another".into()));
        assert!(!gh.known().is_refused, "an older one was refused");
        gh.refused(&token.unwrap());
        assert!(gh.known().is_refused);
    }

    #[test]
    fn whether_there_is_a_token_is_said_without_asking_gh_or_waiting_for_it() {
        let source = Source::Gh(Gh::new("ghe.example", &[]));
        let Source::Gh(gh) = &source else { unreachable!("it was made so") };
        assert!(!source.has_token() && gh.known().asked.is_none());
        gh.known().token = Token::parse("gho_x");
        assert!(source.has_token() && gh.known().asked.is_none());
        let asking = gh.known();
        assert!(!source.has_token(), "while it is asked nobody waits");
        drop(asking);
    }

    #[test]
    fn a_token_is_shown_nowhere() {
        let token = Token::parse("ghp_secret").unwrap();
        assert_eq!(token.header().unwrap(), "Bearer ghp_secret");
        let shown = format!("{token:?} {:?} {:?}", token.header(), Source::Variable(token.clone()));
        assert!(!shown.contains("secret"), "{shown}");
        let known = Known { token: Some(token), is_refused: false, asked: None };
        assert!(!format!("{known:?}").contains("secret"));
    }
}
