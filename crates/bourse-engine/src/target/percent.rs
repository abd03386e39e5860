//! Percent-encoding of the parts of a target.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters with a meaning in a target.
const SPECIAL: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#').add(b'&').add(b'{').add(b'}');

/// Text encoded for a target: characters with a meaning there are escaped.
///
/// ```
/// assert_eq!(bourse_engine::target::escape("50% off?"), "50%25 off%3F");
/// ```
pub fn escape(text: &str) -> String {
    utf8_percent_encode(text, SPECIAL).to_string()
}

/// Text of a part of a target, decoded: `%41` is `A`.
///
/// `None` if a `%` is not followed by two hexadecimal digits, if the bytes are not UTF-8, or if one of them is zero.
///
/// ```
/// assert_eq!(bourse_engine::target::unescape("my%20data").as_deref(), Some("my data"));
/// assert_eq!(bourse_engine::target::unescape("100%"), None);
/// ```
pub fn unescape(text: &str) -> Option<String> {
    // The library leaves a `%` as it is where no digits follow.
    let is_followed = |part: &str| part.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !text.split('%').skip(1).all(is_followed) {
        return None;
    }
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    if decoded.contains('\0') { None } else { Some(decoded.into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_it_was() {
        for text in ["", "plain", "a?b%&c#d", "100%", "{data}", "grün\u{1}\n", "%25"] {
            assert_eq!(unescape(&escape(text)).as_deref(), Some(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for text in ["%", "%1", "%zz", "%+1", "%00", "%ff", "a%4", "%%41"] {
            assert_eq!(unescape(text), None, "{text}");
        }
    }
}
