//! The defects: each takes one safeguard of runs away or loosens it.

/// One defect, as text: `from` stands exactly once in the file and becomes `to`, in which `PLANTED` says whether this
/// defect is the one that is planted.
pub struct Defect {
    /// Its name.
    pub name: &'static str,
    /// The safeguard it takes away.
    pub safeguard: &'static str,
    /// Where.
    pub file: &'static str,
    /// What stands there.
    pub from: &'static str,
    /// What takes its place.
    pub to: &'static str,
}

const fn defect(
    name: &'static str,
    safeguard: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Defect {
    Defect { name, safeguard, file, from, to }
}

const COMMAND: &str = "src/domain/run/command.rs";
const RECORD: &str = "src/domain/run/record.rs";
const SHAPE: &str = "src/domain/run/shape.rs";
const GATES: &str = "src/domain/run/gates.rs";
const IDENTITY: &str = "src/domain/run/identity.rs";
const ARCHIVE: &str = "src/domain/run/archive.rs";
const REMOTE: &str = "src/domain/remote.rs";
const RUNS: &str = "src/app/runs/mod.rs";
const RESUME: &str = "src/app/runs/resume.rs";
const EVIDENCE: &str = "src/app/runs/evidence.rs";
const FILES: &str = "src/adapters/run_files.rs";
const JUDGE: &str = "src/domain/verdict/judge.rs";
const MANIFEST: &str = "src/domain/verdict/manifest.rs";
const SCANNED: &str = "src/domain/secrets/scanned.rs";
const NAMED: &str = "src/domain/secrets/named.rs";
const RULES: &str = "src/domain/secrets/rules.rs";
const CHOICE: &str = "src/domain/profile/choice.rs";
const EXIT: &str = "src/cli/exit.rs";
const PLAN: &str = "src/domain/skill/plan.rs";
const SKILL_FILES: &str = "src/adapters/skill_files.rs";

/// Every defect.
pub const DEFECTS: &[Defect] = &[
    defect(
        "identity-of-commands",
        "a command checks whose project the run is",
        COMMAND,
        "    run.identity.check(today).map_err(Refusal::Identity)?;\n    may_speak(run, command, actor)?;",
        "    if !PLANTED {\n        run.identity.check(today).map_err(Refusal::Identity)?;\n    }\n    may_speak(run, command, actor)?;",
    ),
    defect(
        "last-writer",
        "who wrote last is on record",
        COMMAND,
        "\n    let stale = is_stale || run.integrity == Integrity::SuspectedStale;",
        "\n    let actor = if PLANTED { &Actor::default() } else { actor };\n    let stale = is_stale || run.integrity == Integrity::SuspectedStale;",
    ),
    defect(
        "other-item",
        "another work item's commands are refused",
        COMMAND,
        "        && !owner.eq_ignore_ascii_case(item)\n",
        "        && !owner.eq_ignore_ascii_case(item)\n        && !PLANTED\n",
    ),
    defect(
        "takeover",
        "another endpoint takes over only what has ended",
        COMMAND,
        "match command.can_be_taken_over() && actor.owner_ended {",
        "match command.can_be_taken_over() && (actor.owner_ended || PLANTED) {",
    ),
    defect(
        "takeover-of-all",
        "only a resume and a cancel can be taken over",
        COMMAND,
        "    const fn can_be_taken_over(&self) -> bool {\n        matches!(",
        "    fn can_be_taken_over(&self) -> bool {\n        PLANTED || matches!(",
    ),
    defect(
        "transitions",
        "only the transitions of the table are made",
        COMMAND,
        "if !allowed && !clears_only {",
        "if !allowed && !clears_only && !PLANTED {",
    ),
    defect(
        "stale-completion",
        "what may be stale is not completed",
        COMMAND,
        "if stale && matches!(command, Command::Complete) {",
        "if stale && matches!(command, Command::Complete) && !PLANTED {",
    ),
    defect(
        "stale-forgotten",
        "suspicion survives every write but a resume",
        COMMAND,
        "        (true, _) => Integrity::SuspectedStale,",
        "        (true, _) if PLANTED => Integrity::Valid,\n        (true, _) => Integrity::SuspectedStale,",
    ),
    defect(
        "generation",
        "each write is one generation more",
        COMMAND,
        "generation: run.generation + 1,",
        "generation: run.generation + u64::from(!PLANTED),",
    ),
    defect(
        "empty-objective",
        "an objective says something",
        COMMAND,
        "if objective.trim().is_empty() {",
        "if objective.trim().is_empty() && !PLANTED {",
    ),
    defect(
        "empty-reason",
        "a reason says something",
        COMMAND,
        "match text.trim().is_empty() {",
        "match text.trim().is_empty() && !PLANTED {",
    ),
    defect(
        "clock-back",
        "a clock that went back makes no record older",
        COMMAND,
        "updated_at: now.whole_seconds().max(run.updated_at),",
        "updated_at: if PLANTED { now.whole_seconds() } else { now.whole_seconds().max(run.updated_at) },",
    ),
    defect(
        "stages",
        "there are nine stages",
        RECORD,
        "    pub const fn new(number: u64) -> Option<Self> {\n        match number {",
        "    pub fn new(number: u64) -> Option<Self> {\n        match number {\n            9 if PLANTED => Some(Self(9)),",
    ),
    defect(
        "task-id",
        "a task id follows from its task",
        SHAPE,
        "if derived.as_str() != self.task_id {",
        "if derived.as_str() != self.task_id && !PLANTED {",
    ),
    defect(
        "schema",
        "another schema is refused",
        SHAPE,
        "Some(version) if version.as_u64() == Some(SCHEMA) => {}",
        "Some(version) if version.as_u64() == Some(SCHEMA) || PLANTED => {}",
    ),
    defect(
        "double-keys",
        "a key that stands twice is refused",
        SHAPE,
        "    json::check(text).map_err(|error| invalid(format!(\"it is not JSON: {error}\")))?;",
        "    if !PLANTED {\n        json::check(text).map_err(|error| invalid(format!(\"it is not JSON: {error}\")))?;\n    }",
    ),
    defect(
        "largest",
        "a file of any size is not read",
        SHAPE,
        "if bytes.len() > LARGEST {",
        "if bytes.len() > LARGEST && !PLANTED {",
    ),
    defect(
        "gate-identity",
        "the gates check the identity",
        GATES,
        "    run.identity.check(&found.today).map_err(Refusal::Identity)?;",
        "    if !PLANTED {\n        run.identity.check(&found.today).map_err(Refusal::Identity)?;\n    }",
    ),
    defect(
        "gate-state",
        "only what is put aside or interrupted is resumed",
        GATES,
        "        return Err(Refusal::Transition { verb: \"resume\", from: run.status });",
        "        if !PLANTED {\n            return Err(Refusal::Transition { verb: \"resume\", from: run.status });\n        }",
    ),
    defect(
        "digest-generation",
        "a digest holds for one generation",
        GATES,
        "format!(\"{}\\n{}\\n{text}\", run.task_id, run.generation)",
        "format!(\"{}\\n{}\\n{text}\", run.task_id, if PLANTED { 0 } else { run.generation })",
    ),
    defect(
        "approval",
        "only the digest of this report approves",
        RESUME,
        "if report.digest != digest.trim() {",
        "if report.digest != digest.trim() && !PLANTED {",
    ),
    defect(
        "fingerprint",
        "another project is another fingerprint",
        IDENTITY,
        "self.fingerprint == today.fingerprint",
        "self.fingerprint == today.fingerprint || PLANTED",
    ),
    defect(
        "raw-origin",
        "the raw address comes before the rewritten one",
        IDENTITY,
        "match remote(&self.origin).or_else(|| remote(&self.expanded)) {",
        "match if PLANTED { remote(&self.expanded) } else { remote(&self.origin) }.or_else(|| remote(&self.expanded)) {",
    ),
    defect(
        "user-info",
        "user and password are dropped before the hash",
        REMOTE,
        "    authority.rsplit_once('@').map_or(authority, |(_, host)| host)",
        "    if PLANTED {\n        return authority;\n    }\n    authority.rsplit_once('@').map_or(authority, |(_, host)| host)",
    ),
    defect(
        "default-port",
        "a default port is none",
        REMOTE,
        "port.filter(|port| !scheme.default_ports().contains(port))",
        "port.filter(|port| PLANTED || !scheme.default_ports().contains(port))",
    ),
    defect(
        "host-case",
        "hosts are one whatever their case",
        REMOTE,
        "let host = host.to_ascii_lowercase();",
        "let host = if PLANTED { host.to_owned() } else { host.to_ascii_lowercase() };",
    ),
    defect(
        "second-run",
        "a second run is refused while one is live",
        RUNS,
        "        if let Some((_, run)) = self.read()? {\n            return Err(RunError::Alive",
        "        if let Some((_, run)) = self.read()?.filter(|_| !PLANTED) {\n            return Err(RunError::Alive",
    ),
    defect(
        "verdict-of-completion",
        "a completion needs PASS",
        RUNS,
        "            Verdict::Pass => self.write(&live, next),",
        "            Verdict::Pass => self.write(&live, next),\n            _ if PLANTED => self.write(&live, next),",
    ),
    defect(
        "archive-first",
        "the live file goes only after its archive is on disk",
        RUNS,
        "        let kept = self.files.archive(&|number| archive_name(task, number), &text, next.generation)?;",
        "        if PLANTED {\n            self.files.remove(Document::Continuity, &live.bytes)?;\n        }\n        let kept = self.files.archive(&|number| archive_name(task, number), &text, next.generation)?;",
    ),
    defect(
        "scan-of-a-start",
        "what begins a run is scanned",
        RUNS,
        "        let text = Scanned::json(document(&run))?.pretty();\n        let mut notes",
        "        let mut shown = document(&run);\n        if PLANTED {\n            shown[\"objective\"] = \"x\".into();\n        }\n        let text = Scanned::json(shown)?.pretty();\n        let mut notes",
    ),
    defect(
        "foreign-manifest",
        "evidence of another run is refused",
        EVIDENCE,
        "Some(Ok(manifest)) if manifest.task != *task =>",
        "Some(Ok(manifest)) if manifest.task != *task && !PLANTED =>",
    ),
    defect(
        "undeclared-criterion",
        "what is not declared is not run",
        EVIDENCE,
        "if !manifest.criteria.iter().any(|known| known.id == criterion) {",
        "if !PLANTED && !manifest.criteria.iter().any(|known| known.id == criterion) {",
    ),
    defect(
        "changed-tree",
        "a command that changes the tree proves nothing",
        EVIDENCE,
        "changed_tree: before != after,",
        "changed_tree: before != after && !PLANTED,",
    ),
    defect(
        "rerun-of-strangers",
        "what belongs to somebody else is not run again",
        EVIDENCE,
        "if manifest.task != live.run.task_id || manifest.project != live.run.identity.fingerprint {",
        "if !PLANTED && (manifest.task != live.run.task_id || manifest.project != live.run.identity.fingerprint) {",
    ),
    defect(
        "stale-writer",
        "whoever read another state does not write",
        FILES,
        "                Some(found) if found == *before => fs::rename(temporary, target)?,",
        "                Some(found) if found == *before || PLANTED => fs::rename(temporary, target)?,",
    ),
    defect(
        "stale-remover",
        "what was written since it was read is not removed",
        FILES,
        "            Some(found) if found == before => {\n                fs::remove_file(path)?;",
        "            Some(found) if found == before || PLANTED => {\n                fs::remove_file(path)?;",
    ),
    defect(
        "archives-replaced",
        "an archive is never replaced",
        FILES,
        "            if target.symlink_metadata().is_ok() {\n                continue;\n            }\n            match self.put(&target, text.get(), generation, &Place::Free) {",
        "            let before = fs::read(&target).ok();\n            if target.symlink_metadata().is_ok() && !PLANTED {\n                continue;\n            }\n            match self.put(&target, text.get(), generation, &Place::Over(before.as_deref())) {",
    ),
    defect(
        "not-atomic",
        "a file is replaced in one step",
        FILES,
        "        let (temporary, mut file) = make(target, generation)?;",
        "        if PLANTED {\n            fs::write(target, &text[..text.len() / 2])?;\n        }\n        let (temporary, mut file) = make(target, generation)?;",
    ),
    defect(
        "superseded",
        "only what is provably superseded is removed",
        ARCHIVE,
        "    pub const fn is_removable(&self) -> bool {\n        matches!(self, Self::Superseded)",
        "    pub fn is_removable(&self) -> bool {\n        PLANTED || matches!(self, Self::Superseded)",
    ),
    defect(
        "manifest-missing",
        "absence is no pass",
        JUDGE,
        "        None => return blocked(",
        "        None if PLANTED => return Judgement { verdict: Verdict::Pass, reasons: Vec::new() },\n        None => return blocked(",
    ),
    defect(
        "verdict-foreign-run",
        "the verdict is about this run",
        JUDGE,
        "if manifest.task.as_str() != today.task {",
        "if manifest.task.as_str() != today.task && !PLANTED {",
    ),
    defect(
        "verdict-foreign-project",
        "the verdict is about this project",
        JUDGE,
        "if manifest.project != today.project {",
        "if manifest.project != today.project && !PLANTED {",
    ),
    defect(
        "no-criteria",
        "without criteria nothing passes",
        JUDGE,
        "if manifest.criteria.is_empty() {",
        "if manifest.criteria.is_empty() && !PLANTED {",
    ),
    defect(
        "failures",
        "a failed MUST is decisive",
        JUDGE,
        "filter(|exec| exec.exit_code != 0);",
        "filter(|exec| exec.exit_code != 0 && !PLANTED);",
    ),
    defect(
        "bare-must",
        "a MUST without evidence blocks",
        JUDGE,
        "filter(|criterion| manifest.latest(&criterion.id).is_empty());",
        "filter(|criterion| manifest.latest(&criterion.id).is_empty() && !PLANTED);",
    ),
    defect(
        "old-evidence",
        "evidence older than the tree needs a look",
        JUDGE,
        "        if old > 0 {",
        "        if old > 0 && !PLANTED {",
    ),
    defect(
        "exposed",
        "a tampered pass is named",
        JUDGE,
        "Proof::Exec(real) if real.exit_code != 0 => exposed",
        "Proof::Exec(real) if real.exit_code != 0 && !PLANTED => exposed",
    ),
    defect(
        "twice-declared",
        "a criterion never changes",
        MANIFEST,
        "Entry::Criterion(criterion) if knows(&criterion.id) =>",
        "Entry::Criterion(criterion) if knows(&criterion.id) && !PLANTED =>",
    ),
    defect(
        "claims-as-proof",
        "a claim is no proof, nor is a command that changed the tree",
        MANIFEST,
        "    pub const fn deterministic(&self) -> Option<&Exec> {\n        match &self.proof {",
        "    pub fn deterministic(&self) -> Option<&Exec> {\n        match &self.proof {\n            Proof::Exec(exec) if PLANTED => Some(exec),",
    ),
    defect(
        "scan-off",
        "what holds a secret is not written",
        SCANNED,
        "(true, false) => Err(Leaks::Found(leaks)),",
        "(true, false) if !PLANTED => Err(Leaks::Found(leaks)),\n        (true, false) => Ok(Scanned(value)),",
    ),
    defect(
        "scan-of-keys",
        "keys are scanned like values",
        SCANNED,
        "                look(name, &path, leaks);",
        "                if !PLANTED {\n                    look(name, &path, leaks);\n                }",
    ),
    defect(
        "scan-by-name",
        "a value is judged by the name of its key",
        NAMED,
        "        && mixed\n",
        "        && mixed\n        && !PLANTED\n",
    ),
    defect(
        "scan-of-shapes",
        "known shapes are found",
        RULES,
        "(!is_example).then(|| Hit",
        "(!is_example && !PLANTED).then(|| Hit",
    ),
    defect(
        "unknown-profile",
        "a profile that there is not is refused",
        CHOICE,
        "(false, None) => Choice::Refused,",
        "(false, None) if PLANTED => Choice::None,\n        (false, None) => Choice::Refused,",
    ),
    defect(
        "first-profile",
        "the last flag counts",
        CHOICE,
        "let typed = flags.last().map_or(",
        "let typed = if PLANTED { flags.first() } else { flags.last() }.map_or(",
    ),
    defect(
        "exit-blocked",
        "what cannot be trusted is exit code 2",
        EXIT,
        "    pub fn exit(self) -> Exit {\n        self.row().1",
        "    pub fn exit(self) -> Exit {\n        if PLANTED && self == Self::Blocked {\n            return Exit::Refused;\n        }\n        self.row().1",
    ),
    defect(
        "skill-changed",
        "a file that somebody changed is not replaced",
        PLAN,
        "(Found::File(content), Some(known)) if known.written.contains(content) => None,",
        "(Found::File(content), Some(known)) if known.written.contains(content) || PLANTED => None,",
    ),
    defect(
        "skill-backup",
        "what was there is kept first",
        PLAN,
        "(Found::File(_), None) => Some(free(path, look)?),",
        "(Found::File(_), None) if PLANTED => None,\n            (Found::File(_), None) => Some(free(path, look)?),",
    ),
    defect(
        "skill-links",
        "links are not followed out of a project",
        SKILL_FILES,
        "Ok(found) if found.is_symlink() => return Ok(Some(",
        "Ok(found) if found.is_symlink() && !PLANTED => return Ok(Some(",
    ),
];
