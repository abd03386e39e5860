//! Comma-separated values (RFC 4180): a line of column names, texts quoted where they must be.

use bourse_schema::Table;

/// The first line of a table's file.
pub(crate) fn header(table: &Table) -> Vec<u8> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    (names.join(",") + "\n").into_bytes()
}

/// Rewrites whole lines of the flat file, whose fields hold neither `|` nor a line feed.
pub(crate) fn rewrite(flat: &[u8], out: &mut Vec<u8>) {
    let mut rest = flat;
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'|' | b'\n')) {
        let (field, separator) = (&rest[..end], rest[end]);
        if field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r')) {
            out.push(b'"');
            for &byte in field {
                if byte == b'"' {
                    out.push(b'"');
                }
                out.push(byte);
            }
            out.push(b'"');
        } else {
            out.extend_from_slice(field);
        }
        out.push(if separator == b'|' { b',' } else { b'\n' });
        rest = &rest[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        rewrite(b"1|SuperGen, Inc.||the \"old\" one\n2|x|y|\n", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "1,\"SuperGen, Inc.\",,\"the \"\"old\"\" one\"\n2,x,y,\n");
    }
}
