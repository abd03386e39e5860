//! Certificates for servers and clients of tests, made by the program `openssl`.

use crate::server::{begin_load, names};
use bourse_engine::Engine;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Files of certificates and keys (PEM), in a folder that other users may read.
#[derive(Debug)]
pub struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    /// Makes two authorities, `ca` and `other`, and certificates signed by the first: a server's for the address `host` and a
    /// client's for `user`. `None` if `openssl` is not installed. Under root the server's key belongs to `account`.
    pub fn make(host: &str, user: &str, account: &str) -> Option<Self> {
        let this = Self { folder: crate::server::open_folder() };
        Command::new("openssl").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        for authority in ["ca", "other"] {
            this.run(
                &["req", "-x509", "-days", "2", "-subj", &format!("/CN=authority {authority}")],
                authority,
                &["-out"],
            );
        }
        this.issue("server", "server", &format!("subjectAltName=IP:{host}\nextendedKeyUsage=serverAuth\n"));
        this.issue("client", user, "extendedKeyUsage=clientAuth\n");
        if rustix::process::geteuid().is_root() {
            let given = Command::new("chown").arg(account).arg(this.key("server")).status().unwrap();
            assert!(given.success(), "chown to {account}");
        }
        Some(this)
    }

    /// Path of the certificate `ca`, `other`, `server` or `client`.
    pub fn certificate(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.pem"))
    }

    /// Path of the private key of that certificate.
    pub fn key(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.key"))
    }

    /// Runs `openssl` with a new key of that name; its output, a certificate or a request, is written to the path of the
    /// certificate.
    fn run(&self, arguments: &[&str], name: &str, out: &[&str]) {
        let mut command = Command::new("openssl");
        command.args(arguments).args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.arg("-keyout").arg(self.key(name)).args(out).arg(self.certificate(name));
        finished(command);
    }

    /// Issues a certificate signed by the authority `ca`, from a request made by `openssl req`.
    fn issue(&self, name: &str, subject: &str, extensions: &str) {
        self.run(&["req", "-subj", &format!("/CN={subject}")], name, &["-out"]);
        let file = self.folder.path().join(format!("{name}.ext"));
        std::fs::write(&file, format!("basicConstraints=CA:FALSE\n{extensions}")).unwrap();
        let signed = self.folder.path().join(format!("{name}.signed"));
        let mut command = Command::new("openssl");
        command.args(["x509", "-req", "-days", "2", "-CAcreateserial", "-in"]).arg(self.certificate(name));
        command.arg("-CA").arg(self.certificate("ca")).arg("-CAkey").arg(self.key("ca"));
        command.arg("-extfile").arg(file).arg("-out").arg(&signed);
        finished(command);
        std::fs::rename(signed, self.certificate(name)).unwrap();
    }
}

fn finished(mut command: Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Option of a target that names a file of certificates, with its `&`.
pub fn file_option(name: &str, path: &Path) -> String {
    format!("&{name}={}", path.display())
}

/// Protocol and cipher of an engine's connection, or the reason why none is made.
///
/// # Errors
/// The engine's message.
pub fn reached(engine: &dyn Engine) -> Result<String, String> {
    let described = engine.description().map_err(|e| e.to_string())?;
    Ok(described.settings.into_iter().find(|setting| setting.name == "tls").unwrap().value)
}

/// Checks that each `sslmode` encrypts and checks as libpq documents it, at two hosts of a server whose certificate is for the
/// first one. `at` opens the engine at a host with these options; `missing` is the message for a file that does not exist.
pub fn encrypts_as_asked(
    certificates: &Certificates,
    [right, wrong]: [&str; 2],
    missing: &str,
    at: &dyn Fn(&str, &str) -> Box<dyn Engine>,
) {
    let with = |host: &str, mode: &str, root: &str| {
        let root =
            if root.is_empty() { String::new() } else { file_option("sslrootcert", &certificates.certificate(root)) };
        reached(&*at(host, &format!("sslmode={mode}{root}")))
    };
    assert_eq!(with(right, "disable", "").unwrap(), "off");
    for (host, mode, root) in [
        (wrong, "prefer", ""),
        (wrong, "require", ""),
        (right, "verify-full", "ca"),
        (wrong, "verify-ca", "ca"),
        (wrong, "require", "ca"),
    ] {
        let used = with(host, mode, root).unwrap();
        assert!(used.starts_with("TLSv1.3 TLS"), "{mode}: {used}");
    }
    let refused = |host: &str, mode: &str, root: &str, expected: &str| {
        let words = with(host, mode, root).expect_err(mode);
        assert!(words.contains(expected), "{mode}: {words}");
    };
    refused(wrong, "verify-full", "ca", "is not for this host");
    for mode in ["verify-full", "verify-ca", "require"] {
        refused(right, mode, "other", "does not come from the authority");
    }
    let words = reached(&*at(right, "sslmode=verify-ca&sslrootcert=/nowhere.pem")).unwrap_err();
    assert!(words.contains(missing), "{words}");
    let engine =
        at(right, &format!("sslmode=verify-full{}", file_option("sslrootcert", &certificates.certificate("ca"))));
    begin_load(&*engine, &["ONE", "TWO"]).finish().unwrap();
    assert_eq!(names(&*engine), ["ONE", "TWO"]);
}
