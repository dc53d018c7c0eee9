//! What looks like a secret and is none: examples, templates, hashes, ids.

/// Words of texts that stand where a secret will stand.
const EXAMPLES: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "withheld",
    "dummy",
    "sample",
    "insert",
    "yourtoken",
    "your-",
    "your_",
    "not-a-",
    "notareal",
    "fake",
    "todo",
    "password123",
    "secret-here",
    "token-here",
];

/// Whether a value is plainly an example or a template: one character again and again behind its beginning, a word that
/// says so, or something to be filled in.
pub fn is_placeholder(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    is_template(value) || EXAMPLES.iter().any(|word| low.contains(word)) || is_monotonous(&low)
}

/// `${X}`, `{{ x }}`, `<x>`, `%X%`, `$X`, `env.X`.
pub fn is_template(value: &str) -> bool {
    let value = value.trim();
    value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || value.starts_with(['<', '$', '%', '{'])
        || value.starts_with("env.")
        || value.starts_with("secrets.")
        || value.starts_with("process.env")
}

/// Whether nothing but fillers stands behind the longest beginning that is a word: `ghp_xxxx`, `glpat-XXXX-XXXX`, `****`.
fn is_monotonous(value: &str) -> bool {
    let body = value.rsplit(['_', ':', '=']).next().unwrap_or(value);
    let body = body.split_once("pat-").map_or(body, |(_, body)| body);
    let mut seen: Vec<char> = body.chars().filter(|c| !matches!(c, '-' | '.' | '_')).collect();
    if seen.len() < 4 {
        return false;
    }
    seen.sort_unstable();
    seen.dedup();
    seen.len() == 1
}

/// Whether a value is a hash or an id: hexadecimal digits in one case, a UUID, or a digest with its algorithm.
///
/// Nobody prints a hash in mixed case, and a password of letters and digits may well have none but these.
pub fn is_hash(value: &str) -> bool {
    let digest = ["sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "md5:"];
    let bare: String = value.chars().filter(|c| *c != '-').collect();
    let in_one_case = !bare.bytes().any(|b| b.is_ascii_uppercase()) || !bare.bytes().any(|b| b.is_ascii_lowercase());
    digest.iter().any(|name| value.to_ascii_lowercase().starts_with(name))
        || (bare.len() >= 7 && in_one_case && bare.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Bits of information per character, by how often each stands there.
pub fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX).max(1));
    let share = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    share.map(|share| -share * share.log2()).sum()
}
