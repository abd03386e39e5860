//! Encrypted connections: the checks of a server's certificate, and a client's own.

use crate::server;
use bourse_engine::Engine;
use bourse_engine_mysql::{Launch, open};
use bourse_server::private::free_ports;
use bourse_testkit::certificates::{Certificates, encrypts_as_asked, file_option, reached};
use bourse_testkit::proxy::{Proxy, ProxyProtocol};

#[track_caller]
fn refused(target: &str, expected: &str) {
    let words = reached(&open(target).unwrap()).expect_err(target);
    assert!(words.contains(expected), "{target}: {words}");
}

#[test]
fn a_connection_is_encrypted_and_checked_as_asked_for() {
    let test = "tls::a_connection_is_encrypted_and_checked_as_asked_for";
    let Some(owner) = server(test, "") else { return };
    let (right, wrong) = ("127.0.0.1", "localhost");
    let Some(certificates) = Certificates::make(right, "ann", "mysql") else {
        bourse_testkit::skipped(test, "there is no openssl");
        return;
    };
    let file = |name: &str| certificates.certificate(name);
    let port = free_ports(1).unwrap()[0];
    owner.set_launch(Launch {
        arguments: vec![
            "--skip-networking=0".to_owned(),
            format!("--bind-address={right}"),
            format!("--port={port}"),
            format!("--ssl-cert={}", file("server").display()),
            format!("--ssl-key={}", certificates.key("server").display()),
            format!("--ssl-ca={}", file("ca").display()),
        ],
        ..Launch::default()
    });
    let mut session = owner.session().unwrap();
    for (user, asked) in [("ann", "NONE"), ("bob", "X509")] {
        session.execute_text(&format!("CREATE USER {user}@'%' REQUIRE {asked}"), &[]).unwrap();
        session.execute_text(&format!("GRANT ALL ON *.* TO {user}@'%'"), &[]).unwrap();
    }
    let by = |user: &str, host: &str, options: &str| format!("mariadb://{user}@{host}:{port}/bourse?{options}");
    let at = |host: &str, options: &str| by("ann", host, options);
    let root = |name: &str| file_option("sslrootcert", &file(name));
    let with = |mode: &str, more: &str| format!("sslmode={mode}{more}");

    let open_at = |host: &str, options: &str| -> Box<dyn Engine> { Box::new(open(&at(host, options)).unwrap()) };
    encrypts_as_asked(&certificates, [right, wrong], "cannot read /nowhere.pem", &open_at);

    refused(&by("bob", right, "sslmode=require"), "Access denied");
    let own = |name: &str| file_option("sslcert", &file(name)) + &file_option("sslkey", &certificates.key(name));
    let used =
        reached(&open(&by("bob", right, &with("verify-full", &(root("ca") + &own("client"))))).unwrap()).unwrap();
    assert!(used.starts_with("TLSv1.3"), "{used}");
}

/// Setup: a proxy forwards to the Unix socket, and the private server has no certificate.
#[test]
fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(owner) = server("tls::a_server_without_tls_is_refused_where_it_is_asked_for", "") else { return };
    owner.session().unwrap();
    let socket = owner.location().folder().unwrap().parent().unwrap().join("s");
    let proxy = Proxy::start(ProxyProtocol::Mysql, socket, &[]);
    let at = |mode: &str| format!("mariadb://root@127.0.0.1:{}/bourse?sslmode={mode}", proxy.port());
    assert_eq!(reached(&open(&at("prefer")).unwrap()).unwrap(), "off");
    refused(&at("require"), "the server does not offer TLS");
}
