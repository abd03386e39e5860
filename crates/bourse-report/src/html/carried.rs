//! Hidden contents of a page: its script, its policy, the document it was drawn from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
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
#[derive(Debug, Default)]
pub(super) struct HiddenContents {
    /// Name of the document's file, and the document, compressed.
    data: Option<(&'static str, String)>,
    /// The answer as Markdown, as a JSON string.
    markdown: Option<String>,
}

impl HiddenContents {
    /// The document that the page was drawn from, and the answer in Markdown.
    pub(super) fn new(document: Option<&(&'static str, Vec<u8>)>, markdown: Option<&String>) -> Self {
        let compressed = |document: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            let written = encoder.write_all(document).and_then(|()| encoder.finish());
            STANDARD.encode(written.expect("a vector takes all that is written to it"))
        };
        Self { data: document.map(|(name, bytes)| (*name, compressed(bytes))), markdown: markdown.map(json) }
    }

    /// Content security policy: the script, and no other resource.
    pub(super) fn policy() -> String {
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        format!(
            "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        )
    }

    /// The elements at the end of the page.
    pub(super) fn elements(&self) -> String {
        let data = self.data.iter().map(|(name, data)| {
            format!("<script type=\"application/gzip\" id=\"carried\" data-name=\"{name}\">{data}</script>\n")
        });
        let markdown = self.markdown.iter();
        let markdown = markdown.map(|it| format!("<script type=\"application/json\" id=\"markdown\">{it}</script>\n"));
        let script = format!("<script>{SCRIPT}</script>\n");
        data.chain(markdown).chain([script]).collect()
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
        let carried = HiddenContents::new(Some(&("run.json", document.clone())), None);
        let (_, data) = carried.data.expect("it has a document");
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
