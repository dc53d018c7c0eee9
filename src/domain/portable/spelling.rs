//! JSON text to a value, every number spelled as it was.
//!
//! `serde_json` keeps all digits of a number, but writes its exponent its own way (`1E5` becomes `1e+5`). Numbers of
//! other versions are not ours to change, so each is given its own text back. The one way to do that is a function
//! that `serde_json` hides from its documentation; the test below shows when a new version drops it.

use serde_json::{Number, Value};

/// Reads text that was checked for duplicate keys: only then are values in the order of the text.
pub(super) fn read(text: &str) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    let numbers = numbers(text);
    if numbers.iter().any(|number| number.contains(['e', 'E'])) {
        respell(&mut value, &mut numbers.into_iter());
    }
    Ok(value)
}

/// The numbers of a JSON text, in order.
fn numbers(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut at, mut out) = (0, Vec::new());
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = super::place::string_end(bytes, at) + 1,
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                out.push(&text[at..at + length]);
                at += length;
            }
            _ => at += 1,
        }
    }
    out
}

fn respell<'a>(value: &mut Value, numbers: &mut impl Iterator<Item = &'a str>) {
    match value {
        Value::Number(number) => {
            if let Some(text) = numbers.next() {
                *number = Number::from_string_unchecked(text.to_owned());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| respell(item, numbers)),
        Value::Object(map) => map.values_mut().for_each(|value| respell(value, numbers)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_spelling_in_their_place() {
        for text in [
            r#"{"z":[1E5,"2e3 \" 4",{"b":-0.0e-01,"a":1e+05}],"y":true,"x":9007199254740993,"1e9":null}"#,
            "1E400",
            "[-0,1.50,1e5]",
            r#""1e5""#,
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert!(read("1e").is_err());
    }
}
