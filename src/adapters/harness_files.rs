//! What harnesses keep for their user: trust in directories, and the transcripts of Claude, Codex and Cursor.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::claude_files::ClaudeFiles;
use crate::domain::harness::Keeps;
use crate::domain::ids::ConversationId;
use crate::domain::ports::{HarnessFiles, TrustError};
use crate::domain::transcript;

/// How much of a transcript is read, from its end.
const TAIL: u64 = 8 * 1024 * 1024;
/// How much of the first line of a transcript is read; it holds the instructions of the agent.
const FIRST_LINE: u64 = 4 * 1024 * 1024;
/// A transcript that was not written to within this time is not that of a message just handed over.
const RECENT: Duration = Duration::from_secs(120);
/// How many days of conversations are looked through for one that was just spoken in, newest first.
const DAYS: usize = 40;
/// How often one transcript is looked into, and how often all that may be meant are.
const LOOK: Duration = Duration::from_millis(30);
const SEARCH: Duration = Duration::from_millis(150);

/// Where the harnesses of one user keep their files.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    /// The user's home; without one nothing is known and nothing done.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR` where sessions see it.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME` where sessions see it.
    pub codex: Option<PathBuf>,
}

/// The files of all harnesses of one user.
#[derive(Debug)]
pub struct HarnessFolders {
    claude: ClaudeFiles,
    /// Codex's folders by year, month and day.
    codex: Option<PathBuf>,
    /// Cursor's folders by directory.
    cursor: Option<PathBuf>,
}

impl HarnessFolders {
    /// Those below these homes.
    pub fn new(homes: &Homes) -> Self {
        let home = homes.home.as_deref();
        let codex = homes.codex.clone().or_else(|| Some(home?.join(".codex")));
        Self {
            claude: ClaudeFiles::new(home, homes.claude.as_deref()),
            codex: codex.map(|codex| codex.join("sessions")),
            cursor: home.map(|home| home.join(".cursor/projects")),
        }
    }

    /// The transcript of a conversation. Where Codex and Cursor show none, they may still have it in another form.
    fn transcript(&self, keeps: Keeps, cwd: &Path, id: &ConversationId) -> io::Result<Option<PathBuf>> {
        let found = match keeps {
            Keeps::Nothing => None,
            Keeps::Claude => return self.claude.transcript(cwd, id),
            Keeps::Codex => {
                let end = format!("-{id}.jsonl");
                self.codex_files(usize::MAX)?.into_iter().find(|path| path.to_string_lossy().ends_with(&end))
            }
            Keeps::Cursor => self.cursor_files(cwd)?.into_iter().find(|(_, found)| found == id).map(|(path, _)| path),
        };
        found.map(Some).ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// Transcripts of the newest `days` days of Codex.
    fn codex_files(&self, days: usize) -> io::Result<Vec<PathBuf>> {
        let Some(sessions) = &self.codex else { return Ok(Vec::new()) };
        let mut folders = vec![sessions.clone()];
        for _ in ["year", "month", "day"] {
            let inner: Vec<Vec<PathBuf>> =
                folders.iter().map(|folder| newest_first(folder)).collect::<Result<_, _>>()?;
            folders = inner.into_iter().flatten().take(days).collect();
        }
        let files: Vec<Vec<PathBuf>> = folders.iter().map(|folder| newest_first(folder)).collect::<Result<_, _>>()?;
        Ok(files.into_iter().flatten().filter(|path| is_transcript(path)).collect())
    }

    /// Transcripts of Cursor in `cwd`, each in a folder of its name or, in earlier versions, beside the others.
    fn cursor_files(&self, cwd: &Path) -> io::Result<Vec<(PathBuf, ConversationId)>> {
        let Some(projects) = &self.cursor else { return Ok(Vec::new()) };
        let folder = projects.join(transcript::cursor_folder(&cwd.canonicalize()?)).join("agent-transcripts");
        let named = |path: PathBuf| {
            let id = ConversationId::parse(path.file_stem()?.to_str()?).ok()?;
            let file = if path.is_dir() { path.join(format!("{id}.jsonl")) } else { path };
            is_transcript(&file).then_some((file, id))
        };
        Ok(newest_first(&folder)?.into_iter().filter_map(named).collect())
    }

    /// Conversations in `cwd` whose transcripts show `word` and were written to just now.
    fn with_word(&self, keeps: Keeps, cwd: &Path, word: &str) -> io::Result<Vec<ConversationId>> {
        let since = SystemTime::now() - RECENT;
        let is_recent = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).is_ok_and(|at| at >= since);
        let shows = |path: &Path| is_recent(path) && file_shows(keeps, path, word);
        Ok(match keeps {
            Keeps::Nothing | Keeps::Claude => Vec::new(),
            Keeps::Codex => {
                let cwd = cwd.canonicalize()?;
                let files = self.codex_files(DAYS)?.into_iter().filter(|path| shows(path));
                files.filter_map(|path| transcript::codex_conversation(&first_line(&path).ok()?, &cwd)).collect()
            }
            Keeps::Cursor => {
                self.cursor_files(cwd)?.into_iter().filter(|(path, _)| shows(path)).map(|(_, id)| id).collect()
            }
        })
    }
}

impl HarnessFiles for HarnessFolders {
    fn trust(&self, directory: &Path) -> Result<bool, TrustError> {
        self.claude.trust(directory)
    }

    fn has_transcript(&self, keeps: Keeps, cwd: &Path, conversation: &ConversationId) -> Option<bool> {
        match self.transcript(keeps, cwd, conversation) {
            Ok(found) => Some(found.is_some()),
            // Without Claude's folder there is none; what cannot be looked at may be there.
            Err(error) if error.kind() == io::ErrorKind::NotFound && keeps == Keeps::Claude => Some(false),
            Err(_) => None,
        }
    }

    fn shows(&self, keeps: Keeps, cwd: &Path, conversation: &ConversationId, word: &str, limit_ms: u64) -> bool {
        let look = || {
            let path = self.transcript(keeps, cwd, conversation).ok()??;
            file_shows(keeps, &path, word).then_some(())
        };
        within(limit_ms, LOOK, look).is_some()
    }

    fn conversation_with(&self, keeps: Keeps, cwd: &Path, word: &str, limit_ms: u64) -> Option<ConversationId> {
        within(limit_ms, SEARCH, || match self.with_word(keeps, cwd, word).unwrap_or_default().as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        })
    }
}

/// Looks until something is found or the time is over.
fn within<T>(limit_ms: u64, pause: Duration, look: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + Duration::from_millis(limit_ms);
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= end {
            return found;
        }
        std::thread::sleep(pause);
    }
}

/// What is in a folder, the latest name first.
fn newest_first(folder: &Path) -> io::Result<Vec<PathBuf>> {
    // A file among the folders, left by whatever, holds nothing that is looked for.
    if folder.is_file() {
        return Ok(Vec::new());
    }
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort_unstable_by(|one, other| other.cmp(one));
    Ok(paths)
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file()
}

fn file_shows(keeps: Keeps, path: &Path, word: &str) -> bool {
    last_lines(path).is_ok_and(|lines| lines.lines().any(|line| transcript::shows(keeps, line, word)))
}

/// The last lines of a file, the first of them perhaps cut.
fn last_lines(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn first_line(path: &Path) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(File::open(path)?.take(FIRST_LINE)).read_line(&mut line)?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::transcript::Folder;

    struct Home {
        dir: tempfile::TempDir,
        files: HarnessFolders,
    }

    fn home() -> Home {
        let dir = tempfile::tempdir().unwrap();
        for name in ["user", "src/a", "src/b"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let files = HarnessFolders::new(&Homes { home: Some(dir.path().join("user")), ..Homes::default() });
        Home { dir, files }
    }

    impl Home {
        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(&format!("user/{name}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// A rollout of Codex in `src/<cwd>` in which a person said `word`.
        fn rollout(&self, file: &str, cwd: &str, source: &str, id: &str, word: &str) {
            let cwd = self.path(&format!("src/{cwd}"));
            let (cwd, long) = (cwd.display(), "x".repeat(100_000));
            self.write(
                &format!(".codex/sessions/{file}-{id}.jsonl"),
                &format!(
                    "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"{cwd}\",\"source\":{source},\"i\":\"{long}\"}}}}\n\
                     {{\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"{word}\"}}}}\n"
                ),
            );
        }

        fn learnt(&self, keeps: Keeps, cwd: &str, word: &str) -> Option<String> {
            let found = self.files.conversation_with(keeps, &self.path(&format!("src/{cwd}")), word, 0);
            found.map(|id| id.as_str().to_owned())
        }
    }

    #[test]
    fn a_transcript_is_evidence_for_and_its_absence_is_none_against() {
        let home = home();
        let cwd = home.path("src/a");
        let id = ConversationId::parse("c1").unwrap();
        let has = |files: &HarnessFolders| files.has_transcript(Keeps::Claude, &cwd, &id);
        let shows = |word: &str, id: &ConversationId| home.files.shows(Keeps::Claude, &cwd, id, word, 0);
        assert_eq!(has(&home.files), Some(false));
        assert!(!shows("word-1", &id));
        let Folder::Named(name) = transcript::folder(&cwd) else { panic!() };
        let said = |word: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{word}\"}}}}\n");
        let long = format!("{{\"type\":\"assistant\",\"text\":\"{}\"}}\n", "x".repeat(3 << 20));
        home.write(
            &format!(".claude/projects/{name}/c1.jsonl"),
            &[said("word-0"), long.repeat(3), said("word-1")].concat(),
        );
        assert_eq!(has(&home.files), Some(true));
        assert!(shows("word-1", &id));
        assert!(!shows("word-0", &id), "only the end is read");
        assert!(!shows("word-1", &ConversationId::parse("c2").unwrap()));
        let elsewhere = Homes { home: Some(home.path("user")), claude: Some(home.path("elsewhere")), codex: None };
        assert_eq!(has(&HarnessFolders::new(&elsewhere)), Some(false));
        assert_eq!(HarnessFolders::new(&Homes::default()).has_transcript(Keeps::Codex, &cwd, &id), None);
    }

    #[test]
    fn the_conversation_of_codex_is_the_one_that_shows_what_was_said() {
        let home = home();
        assert_eq!(home.learnt(Keeps::Codex, "a", "word-1"), None, "no folder");
        home.rollout("2026/11/28/rollout-2026-11-28T09-00-00", "a", "\"cli\"", "id-1", "word-1");
        home.rollout("2026/11/29/rollout-2026-11-29T09-00-00", "a", "\"cli\"", "id-2", "word-2");
        home.rollout("2026/11/29/rollout-2026-11-29T09-00-01", "b", "\"cli\"", "id-3", "word-3");
        home.rollout("2026/11/29/rollout-2026-11-29T09-00-02", "a", "{\"subagent\":\"review\"}", "id-4", "word-1");
        home.write(".codex/sessions/.DS_Store", "");
        for (cwd, word, id) in [("a", "word-1", Some("id-1")), ("a", "word-2", Some("id-2")), ("a", "word-3", None)] {
            assert_eq!(home.learnt(Keeps::Codex, cwd, word).as_deref(), id, "{word}");
        }
        let (cwd, id) = (home.path("src/a"), ConversationId::parse("id-1").unwrap());
        assert!(home.files.shows(Keeps::Codex, &cwd, &id, "word-1", 0));
        assert_eq!(home.files.has_transcript(Keeps::Codex, &cwd, &id), Some(true));
        let gone = ConversationId::parse("id-9").unwrap();
        assert_eq!(home.files.has_transcript(Keeps::Codex, &cwd, &gone), None, "it may have been put away");
        // Where two show it, nobody knows.
        home.rollout("2026/11/29/rollout-2026-11-29T10-00-00", "a", "\"cli\"", "id-5", "word-1");
        assert_eq!(home.learnt(Keeps::Codex, "a", "word-1"), None);
    }

    #[test]
    fn an_old_transcript_is_not_that_of_a_message_just_handed_over() {
        let home = home();
        home.rollout("2026/11/28/rollout-2026-11-28T09-00-00", "a", "\"cli\"", "id-1", "word-1");
        let path = home.path("user/.codex/sessions/2026/11/28/rollout-2026-11-28T09-00-00-id-1.jsonl");
        let old = SystemTime::now() - RECENT * 2;
        File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        assert_eq!(home.learnt(Keeps::Codex, "a", "word-1"), None);
    }

    #[test]
    fn the_conversation_of_cursor_is_the_name_of_its_transcript() {
        let home = home();
        let folder = transcript::cursor_folder(&home.path("src/a"));
        let said = |word: &str| {
            format!("{{\"role\":\"user\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{word}\"}}]}}}}\n")
        };
        let transcripts = format!(".cursor/projects/{folder}/agent-transcripts");
        home.write(&format!("{transcripts}/id-1/id-1.jsonl"), &said("word-1"));
        home.write(&format!("{transcripts}/id-1/subagents/id-7.jsonl"), &said("word-2"));
        home.write(&format!("{transcripts}/id-2.jsonl"), &said("word-2"));
        for (cwd, word, id) in [("a", "word-1", Some("id-1")), ("a", "word-2", Some("id-2")), ("b", "word-1", None)] {
            assert_eq!(home.learnt(Keeps::Cursor, cwd, word).as_deref(), id, "{word}");
        }
        let id = ConversationId::parse("id-1").unwrap();
        assert!(home.files.shows(Keeps::Cursor, &home.path("src/a"), &id, "word-1", 0));
    }
}
