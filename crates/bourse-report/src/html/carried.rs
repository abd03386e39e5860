//! Hidden contents of a page: its script, its policy, the document it was drawn from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use minijinja::Value;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Write as _;

/// The script between its tags. CDATA marks keep a strict parser from reading it as markup; to the script they are comments.
const SCRIPT: &str = concat!(
    "//<![CDATA[\n(() => {\n\"use strict\";\n",
    include_str!("script/numbers.js"),
    include_str!("script/plot.js"),
    include_str!("script/page.js"),
    "})();\n//]]>"
);

/// Hidden contents of a page.
#[derive(Debug, Serialize)]
pub(crate) struct Carried {
    /// Content security policy: this script, and no other resource.
    policy: String,
    script: Value,
    /// The document, compressed, and the name of its file.
    data: Option<Value>,
    data_name: &'static str,
    /// The answer as Markdown, as a JSON string.
    markdown: Option<Value>,
}

impl Carried {
    /// The script alone.
    pub(crate) fn script() -> Self {
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        Self {
            policy: format!(
                "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
            ),
            script: Value::from_safe_string(SCRIPT.to_owned()),
            data: None,
            data_name: "",
            markdown: None,
        }
    }

    /// Adds the document that the page was drawn from.
    pub(crate) fn document(self, name: &'static str, document: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(document).and_then(|()| encoder.finish());
        let bytes = written.expect("a vector takes all that is written to it");
        Self { data: Some(Value::from_safe_string(STANDARD.encode(bytes))), data_name: name, ..self }
    }

    /// Adds the answer in Markdown.
    pub(crate) fn markdown(self, markdown: &str) -> Self {
        Self { markdown: Some(Value::from_safe_string(json(&markdown))), ..self }
    }
}

/// JSON that is safe in a page: ASCII alone, without characters that begin markup.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("numbers, text and lists have a form in JSON");
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() && !matches!(character, '<' | '>' | '&' | '\u{7f}') {
            out.push(character);
        } else {
            // JSON escapes code units of UTF-16.
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_page_is_the_same_json_without_markup() {
        let hostile = "</script><!-- & \u{202e} \u{1b} 𝄞 \"";
        let text = json(&hostile);
        assert!(text.is_ascii() && !text.contains(['<', '>', '&', '\u{7f}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).expect("it is JSON"), hostile);
    }

    #[test]
    fn a_document_is_carried_whole() {
        let document = br#"{"cases":[1,2,3]}"#.repeat(50);
        let carried = Carried::script().document("run.json", &document);
        let data = carried.data.expect("it has a document").to_string();
        let bytes = STANDARD.decode(data).expect("it is base64");
        let mut whole = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut whole)
            .expect("it is gzip");
        assert_eq!(whole, document);
    }

    #[test]
    fn the_script_ends_where_its_element_does() {
        assert!(!SCRIPT.to_lowercase().contains("</script"));
        assert_eq!(SCRIPT.matches("]]>").count(), 1);
    }
}
