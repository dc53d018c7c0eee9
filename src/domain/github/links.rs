//! The `Link` header (RFC 8288): where the next page of a list is.

/// The target of `rel="next"`, as written: what was said about it is sent back unchanged.
///
/// A header that is none of RFC 8288 has no next page from where it ceases to be one.
pub fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (target, after) = rest.strip_prefix('<')?.split_once('>')?;
        let (is_next, after) = parameters(after)?;
        if is_next {
            return Some(target);
        }
        rest = after;
    }
}

/// Reads the parameters of one link: whether it is the next page, and what stands behind them.
fn parameters(text: &str) -> Option<(bool, &str)> {
    let (mut rest, mut rel) = (text, None);
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(parameter) = rest.strip_prefix(';') else { break };
        let parameter = parameter.trim_start_matches([' ', '\t']);
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let (name, after) = parameter.split_at(end);
        let (value, after) = match after.strip_prefix('=') {
            Some(after) => value(after.trim_start_matches([' ', '\t']))?,
            None => (String::new(), after),
        };
        // Only the first `rel` counts (RFC 8288, section 3.3).
        if name.trim().eq_ignore_ascii_case("rel") && rel.is_none() {
            rel = Some(value);
        }
        rest = after;
    }
    let is_next = rel.is_some_and(|rel| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("next")));
    (rest.is_empty() || rest.starts_with(',')).then_some((is_next, rest))
}

/// A quoted string or a token, and what stands behind it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',', ' ', '\t']).unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => (value.push(c), escaped = false).1,
            '\\' => escaped = true,
            '"' => return Some((value, &quoted[at + 1..])),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q11_the_target_of_next_is_read_as_it_is_written() {
        for (header, want) in [
            (
                "<https://ghe.example/api/v3/repositories/101/issues?page=2>; rel=\"next\", \
                 <https://ghe.example/api/v3/repositories/101/issues?page=3>; rel=\"last\"",
                Some("https://ghe.example/api/v3/repositories/101/issues?page=2"),
            ),
            ("<https://h/1>; rel=\"prev\", <https://h/3>; rel=\"next\"", Some("https://h/3")),
            ("<https://h/a,b;c?x=%3E>;rel=next", Some("https://h/a,b;c?x=%3E")),
            ("<https://h/2> ; title=\"a, <b>; rel=\\\"next\\\"\" ; REL=\"last NEXT\"", Some("https://h/2")),
            ("<https://h/2>; title=\"<https://h/9>; rel=next\"; rel=last", None),
            ("<https://h/2>; rel=last; rel=next", None),
            ("<https://h/2>; nextish; rel=\"nextish\"", None),
            ("<https://h/1>; rel=first,<https://h/2>; rel=next;", Some("https://h/2")),
            ("<https://h/1>; rel=first, nonsense, <https://h/2>; rel=next", None),
            ("<https://h/2; rel=next", None),
            ("https://h/2; rel=next", None),
            ("<https://h/2>; rel=\"next", None),
            ("", None),
        ] {
            assert_eq!(next_link(header), want, "{header}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_header_is_read_without_a_crash(header in "[<>;,=\"\\\\ a-zä]{0,40}") {
            next_link(&header);
        }
    }
}
