//! Encrypted connections: the checks of a server's certificate, and a client's own.

use crate::server;
use bourse_engine::Engine;
use bourse_engine_postgres::{Launch, open};
use bourse_testkit::certificates::{Certificates, encrypts_as_asked, file_option, reached};
use bourse_testkit::proxy::{Proxy, ProxyProtocol};
use std::net::TcpListener;

/// Addresses of this machine that the server listens on, of which its certificate has the first. They are unusual ones,
/// since its port is in its socket's name and another server may use that port on the usual address.
const HOSTS: [&str; 2] = ["127.83.17.1", "127.83.17.2"];

#[track_caller]
fn refused(target: &str, expected: &str) {
    let words = reached(&open(target).unwrap()).expect_err(target);
    assert!(words.contains(expected), "{target}: {words}");
}

#[test]
fn a_connection_is_encrypted_and_checked_as_asked_for() {
    let test = "tls::a_connection_is_encrypted_and_checked_as_asked_for";
    let Some(owner) = server(test, "") else { return };
    if HOSTS.iter().any(|host| TcpListener::bind((*host, 5_432)).is_err()) {
        bourse_testkit::skipped(test, format!("port 5432 of {HOSTS:?} is not to be had"));
        return;
    }
    let Some(certificates) = Certificates::make(HOSTS[0], "postgres", "postgres") else {
        bourse_testkit::skipped(test, "there is no openssl");
        return;
    };
    let file = |name: &str| certificates.certificate(name);
    let arguments = vec![
        format!("--listen_addresses={}", HOSTS.join(",")),
        "--ssl=on".to_owned(),
        format!("--ssl_cert_file={}", file("server").display()),
        format!("--ssl_key_file={}", certificates.key("server").display()),
        format!("--ssl_ca_file={}", file("ca").display()),
    ];
    owner.set_launch(Launch { arguments, ..Launch::default() });
    let mut session = owner.session().unwrap();
    let data = owner.location().folder().unwrap();
    let mut rules = |text: &str| {
        std::fs::write(data.join("pg_hba.conf"), format!("local all all trust\n{text}\n")).unwrap();
        session.query_text("SELECT pg_reload_conf()", &[], &mut |_| Ok(())).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
    };
    rules("host all all 127.0.0.0/8 trust");
    let [right, wrong] = HOSTS;
    let at = |host: &str, options: &str| format!("postgres://postgres@{host}:5432/bourse?{options}");
    let root = |name: &str| file_option("sslrootcert", &file(name));
    let with = |mode: &str, more: &str| format!("sslmode={mode}{more}");

    let open_at = |host: &str, options: &str| -> Box<dyn Engine> { Box::new(open(&at(host, options)).unwrap()) };
    encrypts_as_asked(&certificates, [right, wrong], "cannot use /nowhere.pem", &open_at);

    let engine = open(&at(right, &with("verify-full", &root("ca")))).unwrap();
    let mut bytes = 0;
    let count = &mut |row: &dyn bourse_engine::Row| {
        bytes += row.text_bytes(0).map_or(0, <[u8]>::len);
        Ok(())
    };
    engine.session().unwrap().query_text("SELECT repeat('x', 3000000)", &[], count).unwrap();
    assert_eq!(bytes, 3_000_000);

    rules("hostssl all all 127.0.0.0/8 cert");
    refused(&at(right, "sslmode=require"), "certificate");
    refused(&at(right, "sslmode=disable"), "no encryption");
    let own = |name: &str| file_option("sslcert", &file(name)) + &file_option("sslkey", &certificates.key(name));
    let used = reached(&open(&at(right, &with("verify-full", &(root("ca") + &own("client"))))).unwrap()).unwrap();
    assert!(used.starts_with("TLSv1.3"), "{used}");
    refused(&at(right, &with("require", &own("other"))), "the server has refused TLS");
}

/// Setup: a proxy forwards to the Unix socket, over which a server does not encrypt.
#[test]
fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(owner) = server("tls::a_server_without_tls_is_refused_where_it_is_asked_for", "") else { return };
    owner.session().unwrap();
    let socket = owner.location().folder().unwrap().parent().unwrap().join(".s.PGSQL.5432");
    let proxy = Proxy::start(ProxyProtocol::Postgres, socket, &[]);
    let at = |mode: &str| format!("postgres://postgres@127.0.0.1:{}/bourse?sslmode={mode}", proxy.port());
    assert_eq!(reached(&open(&at("prefer")).unwrap()).unwrap(), "off");
    refused(&at("require"), "the server does not offer TLS, which sslmode=require asks for");
}
