//! Files of passwords. A password is never part of a message, and no type that contains one has `Debug`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::{EngineError, Result, open_once};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Places where a client of this process finds passwords.
#[derive(Default)]
pub struct PasswordSources {
    /// The password itself, from an environment variable.
    pub password: Option<String>,
    /// A password from an environment variable, for servers for which no file has one.
    pub fallback: Option<String>,
    /// The file of passwords that an environment variable names.
    pub file: Option<PathBuf>,
    /// The folder of the user's own files.
    pub home: Option<PathBuf>,
}

impl PasswordSources {
    /// Reads this process's environment: `password` names the variable for a password, `file` one for a file.
    pub fn of_process(password: &str, file: Option<&str>) -> Self {
        Self {
            password: std::env::var(password).ok(),
            fallback: None,
            file: file.and_then(std::env::var_os).map(PathBuf::from),
            home: std::env::home_dir(),
        }
    }
}

/// Result of a search for a password.
#[derive(Clone, Default)]
pub struct Secret {
    /// The password.
    pub password: Option<String>,
    /// Reason why an existing file was not used, for a warning.
    pub unused: Option<String>,
}

impl Secret {
    /// A password from another source.
    pub fn known(password: Option<String>) -> Self {
        Self { password, unused: None }
    }
}

/// Reads the password from the first line of a file that a target names.
///
/// # Errors
/// [`Unsupported`](bourse_engine::ErrorKind::Unsupported): the file cannot be read.
pub fn first_line(path: &Path) -> Result<Secret> {
    let text = open_once(path)
        .and_then(io::read_to_string)
        .map_err(|e| EngineError::unsupported(format!("cannot read {}: {e}", path.display())))?;
    Ok(Secret::known(text.lines().next().map(str::to_owned)))
}

/// Reads the password for host, port, database and user from PostgreSQL's password file, by libpq's rules.
///
/// # Errors
/// The file exists and cannot be read.
pub fn of_pgpass(path: &Path, wanted: [&str; 4]) -> Result<Secret> {
    if !path.is_file() {
        return Ok(Secret::default());
    }
    if let Some(mode) = mode(path).filter(|mode| mode & 0o077 != 0) {
        let why = format!(
            "{} is not used for passwords: others may read or write it (mode {:03o}); `chmod 600` makes it yours alone",
            path.display(),
            mode & 0o777
        );
        return Ok(Secret { password: None, unused: Some(why) });
    }
    let text = fs::read_to_string(path).map_err(|e| EngineError::io("read", path, &e))?;
    Ok(Secret::known(text.lines().find_map(|line| in_line(line, wanted))))
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(path.metadata().ok()?.mode())
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

/// Password of a line `host:port:database:user:password` if it matches; `*` matches anything, `\` quotes the next
/// character.
fn in_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    // A field that is one plain `*`; an escaped one is a name.
    let mut is_any = vec![false];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let is_last = fields.len() > wanted.len();
        let is_first = fields.last()?.is_empty();
        match character {
            '\\' => fields.last_mut()?.extend(characters.next()),
            ':' if !is_last => {
                fields.push(String::new());
                is_any.push(false);
                continue;
            }
            other => fields.last_mut()?.push(other),
        }
        *is_any.last_mut()? = is_first && character == '*';
    }
    let matches = fields.iter().zip(&is_any).zip(wanted).all(|((field, any), wanted)| *any || field == wanted);
    (matches && fields.len() == wanted.len().saturating_add(1)).then(|| fields.pop())?
}

/// Options that MySQL's and MariaDB's clients read from an option file.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Option `user`.
    pub user: Option<String>,
    /// Option `password`.
    pub password: Option<String>,
    /// Option `host`.
    pub host: Option<String>,
    /// Option `port`.
    pub port: Option<u16>,
    /// Option `socket`.
    pub socket: Option<PathBuf>,
    /// Reason why an existing file was not used, for a warning.
    pub unused: Option<String>,
}

/// Groups of an option file that every client reads.
const CLIENT_GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];

/// Reads the option file `.my.cnf` in the user's home folder.
///
/// # Errors
/// The file exists and cannot be read.
pub fn of_my_cnf(home: Option<&Path>) -> Result<ClientOptions> {
    let Some(path) = home.map(|home| home.join(".my.cnf")).filter(|path| path.is_file()) else {
        return Ok(ClientOptions::default());
    };
    // As those clients have it: one that anybody may write says nothing.
    if mode(&path).is_some_and(|mode| mode & 0o002 != 0) {
        let why = format!("{} is not used: everybody may write it; `chmod 600` makes it yours alone", path.display());
        return Ok(ClientOptions { unused: Some(why), ..ClientOptions::default() });
    }
    let text = fs::read_to_string(&path).map_err(|e| EngineError::io("read", &path, &e))?;
    Ok(in_option_file(&text))
}

/// Options of an option file for every client. A later line wins; included files are not read.
fn in_option_file(text: &str) -> ClientOptions {
    let mut options = ClientOptions::default();
    let mut is_ours = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';', '!']) {
            continue;
        }
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            is_ours = CLIENT_GROUPS.contains(&group.0.trim());
            continue;
        }
        let Some((name, value)) = without_comment(line).split_once('=').filter(|_| is_ours) else { continue };
        let value = option_value(value);
        match option_name(name).as_str() {
            "user" => options.user = Some(value),
            "password" => options.password = Some(value),
            "host" => options.host = Some(value),
            "port" => options.port = value.parse().ok(),
            "socket" => options.socket = Some(value.into()),
            _ => {}
        }
    }
    options
}

/// Canonical name of an option: capitals, `_` instead of `-`, and a prefix `loose-` make no difference.
fn option_name(text: &str) -> String {
    let name = text.trim().to_ascii_lowercase().replace('_', "-");
    name.strip_prefix("loose-").map_or(name.clone(), str::to_owned)
}

/// Removes the comment at the end of a line, which begins with `#` outside quotation marks.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote.is_some() && character == '\\' && !is_escaped;
    }
    line
}

/// Value of an option file's line: without the quotation marks around it, escapes replaced.
fn option_value(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let mut value = String::new();
    let mut characters = inner.unwrap_or(text).chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('b') => value.push('\u{8}'),
            Some('t') => value.push('\t'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('s') => value.push(' '),
            Some(other @ ('\\' | '"' | '\'')) => value.push(other),
            // No escape: both characters stand for themselves.
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_passwords_is_read() {
        let wanted = ["db.example", "5432", "tpce", "ann"];
        for (line, expected) in [
            ("db.example:5432:tpce:ann:secret", Some("secret")),
            ("*:*:*:ann:se\\:cr\\\\et", Some("se:cr\\et")),
            ("*:*:*:*:with:colons", Some("with:colons")),
            ("*:*:*:*:", Some("")),
            ("\\*:*:*:*:secret", None),
            ("**:*:*:*:secret", None),
            ("other:5432:tpce:ann:secret", None),
            ("#*:*:*:*:secret", None),
            ("*:*:*", None),
            ("", None),
        ] {
            assert_eq!(in_line(line, wanted).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn an_option_file_is_read_as_clients_read_it() {
        let text = "user = nobody\n# a comment\n[mysqld]\npassword=server\n[client]\nuser=ann # who\npassword = \"se#cr\\\\et \"\n\
                    port=3307\r\n!include /etc/other.cnf\n[ client-server ]\nhost= db.example\nsocket='/run/a b'\nport=x\n[mysql]\nuser=bob\n";
        let found = in_option_file(text);
        assert_eq!(found.user.as_deref(), Some("ann"));
        assert_eq!(found.password.as_deref(), Some("se#cr\\et "));
        assert_eq!(found.host.as_deref(), Some("db.example"));
        assert_eq!(found.socket.as_deref(), Some(Path::new("/run/a b")));
        assert_eq!(found.port, None, "a later line wins, though it is no number");
        assert!(in_option_file("[client]\npassword\n").password.is_none());
    }

    /// Regression: a quotation mark within a password, capitals in a name and `loose-` were read unlike the clients do.
    #[test]
    fn only_the_outer_quotation_marks_of_a_value_are_dropped() {
        for (line, expected) in [
            (r#"password="a"b""#, r#"a"b"#),
            (r#"password="a"b"#, r#""a"b"#),
            ("password='a'b'", "a'b"),
            (r#"password=a"b""#, r#"a"b""#),
            (r#"password="a"#, r#""a"#),
            (r#"password=""#, r#"""#),
            (r#"password="""#, ""),
            (r#"password="a#b" # mine"#, "a#b"),
            (r##"password="a\"#b" # mine"##, r##"a"#b"##),
            (r##"password=a"#b" # mine"##, r##"a"#b""##),
            ("PASSWORD=xyz", "xyz"),
            ("loose-password=xyz", "xyz"),
            ("Loose_Password = xyz # mine", "xyz"),
        ] {
            let found = in_option_file(&format!("[client]\n{line}\n"));
            assert_eq!(found.password.as_deref(), Some(expected), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_reach_is_told_and_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let pgpass = home.path().join("pgpass");
        let wanted = ["h", "1", "d", "u"];
        assert!(of_pgpass(&pgpass, wanted).is_ok_and(|found| found.password.is_none() && found.unused.is_none()));
        fs::write(&pgpass, "# mine\n*:*:*:*:secret\n").unwrap();
        for (mode, expected) in [(0o600, Some("secret")), (0o400, Some("secret")), (0o640, None), (0o604, None)] {
            set(&pgpass, mode);
            let found = of_pgpass(&pgpass, wanted).map_err(|e| e.to_string()).unwrap();
            assert_eq!(found.password.as_deref(), expected, "{mode:o}");
            let words = found.unused.unwrap_or_default();
            assert_eq!(words.contains("others may read or write it") && !words.contains("secret"), expected.is_none());
        }
        let cnf = home.path().join(".my.cnf");
        fs::write(&cnf, "[client]\npassword=secret\n").unwrap();
        for (mode, expected) in [(0o600, Some("secret")), (0o644, Some("secret")), (0o646, None)] {
            set(&cnf, mode);
            let found = of_my_cnf(Some(home.path())).map_err(|e| e.to_string()).unwrap();
            assert_eq!(found.password.as_deref(), expected, "{mode:o}");
            assert_eq!(found.unused.is_some(), expected.is_none());
        }
        assert!(of_my_cnf(None).is_ok_and(|found| found == ClientOptions::default()));
    }

    /// Escapes a field for libpq.
    fn escaped(text: &str) -> String {
        text.replace('\\', "\\\\").replace(':', "\\:").replace('*', "\\*")
    }

    proptest! {
        #[test]
        fn what_is_written_by_the_rules_is_read_back(
            fields in proptest::array::uniform4("[^\n\r#]{1,8}"), password in "[^\n\r]{0,12}", other in "[a-z]{1,8}",
        ) {
            let line = format!("{}:{}", fields.each_ref().map(|field| escaped(field)).join(":"), escaped(&password));
            let wanted = fields.each_ref().map(String::as_str);
            prop_assert_eq!(in_line(&line, wanted), Some(password));
            let [host, port, database, user] = wanted;
            prop_assume!(user != other);
            prop_assert_eq!(in_line(&line, [host, port, database, &other]), None);
        }

        #[test]
        fn a_quoted_value_is_read_back(value in "[^\n\r]{0,12}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let found = in_option_file(&format!("[client]\npassword = \"{quoted}\" # mine\n"));
            prop_assert_eq!(found.password, Some(value));
        }

        #[test]
        fn anything_at_all_is_read_without_a_panic(text in "(?s).{0,200}") {
            let _ = in_option_file(&text).user;
            let _ = in_line(&text, ["a", "b", "c", "d"]);
        }
    }
}
