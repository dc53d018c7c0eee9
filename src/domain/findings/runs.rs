//! Runs in the directories of sessions: whether their files can be believed.

use super::Finding;

/// The files of a live run as they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Why it is suspected to be stale.
    pub doubts: Vec<String>,
    /// Why it is of another project.
    pub mismatch: Option<String>,
    /// Why its evidence cannot be believed.
    pub evidence: Option<String>,
    /// What cut-off writes left behind.
    pub leftovers: Vec<String>,
}

/// What is wrong with the run in `directory`; nothing when all is well. An error is why it cannot be read at all.
pub fn judge(directory: &str, seen: Result<&Seen, &str>) -> Vec<Finding> {
    let seen = match seen {
        Ok(seen) => seen,
        Err(why) => return vec![blocked("runs.corrupt", format!("the run in `{directory}`: {why}"))],
    };
    let mut findings = Vec::new();
    if let Some(why) = &seen.mismatch {
        findings.push(blocked("runs.foreign", format!("the run in `{directory}` is of another project: {why}")));
    }
    if let Some(why) = &seen.evidence {
        findings.push(blocked("runs.evidence", format!("the evidence in `{directory}`: {why}")));
    }
    for doubt in &seen.doubts {
        let what = format!("the run in `{directory}` is suspected to be stale: {doubt}");
        findings.push(
            Finding::warning("runs.stale", what)
                .because("nothing is completed until somebody looked at it")
                .todo("`the-loop run resume` there lays before you what changed, and clears it once you approve"),
        );
    }
    for leftover in &seen.leftovers {
        findings.push(
            Finding::note("runs.left-behind", leftover.clone())
                .because("a write was cut off")
                .todo("`the-loop run repair` there removes what is provably superseded"),
        );
    }
    findings
}

fn blocked(id: &'static str, what: String) -> Finding {
    Finding::warning(id, what)
        .because("its agent is refused every command that changes the run")
        .todo("look at it; it was left byte for byte, and only a person can say what is right")
}

/// All of them in order.
pub fn sound(count: usize) -> Finding {
    Finding::ok("runs.sound", format!("live runs in directories of sessions: {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_is_named_with_its_directory_and_only_leftovers_are_no_fault() {
        let why = || Some("why".to_owned());
        for (seen, id, bad) in [
            (Ok(Seen { mismatch: why(), ..Seen::default() }), "runs.foreign", true),
            (Ok(Seen { evidence: why(), ..Seen::default() }), "runs.evidence", true),
            (Ok(Seen { doubts: vec!["why".into()], ..Seen::default() }), "runs.stale", true),
            (Ok(Seen { leftovers: vec!["why in /p".into()], ..Seen::default() }), "runs.left-behind", false),
            (Err("why"), "runs.corrupt", true),
        ] {
            let found = judge("/p", seen.as_ref().map_err(|why| *why));
            let [found] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((found.id, found.is_bad()), (id, bad));
            assert!(found.what.contains("/p") && found.what.contains("why"), "{}", found.what);
        }
        assert_eq!(judge("/p", Ok(&Seen::default())), []);
    }
}
