use bourse_engine::target::{NamedParts, TargetError};
use bourse_engine_mysql::cluster::{ClusterOptions, ClusterProduct, ClusterTarget, GRAMMAR};
use bourse_engine_mysql::{Flavour, ServerPlace};

#[track_caller]
fn refused(target: &str, expected: &str) {
    let message = ClusterTarget::parse(target).expect_err(target).to_string();
    assert!(message.contains(expected), "{target}: {message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn a_target_is_a_cluster_and_its_settings() {
    let private = ClusterTarget::parse("mariadb+galera:/big%20disk?nodes=5&causal=off&flush_log=2").unwrap();
    assert!(private.is_private());
    assert_eq!(private.server.place, ServerPlace::Private { directory: Some("/big disk".into()) });
    assert_eq!((private.options.nodes, private.options.causal), (5, false));
    assert_eq!(private.options.server.flush_log.word(), "2");
    assert_eq!(private.server.options, private.options.server);
    let running = ClusterTarget::parse("galera://ann@a,b:3307,[::1]:3308/tpce?spread=off&lock_timeout=2s").unwrap();
    let place = |host: &str, port, is_named| ServerPlace::Running {
        host: host.to_owned(),
        port,
        user: "ann".to_owned(),
        database: "tpce".to_owned(),
        named: NamedParts { host: true, port: is_named, user: true },
    };
    assert_eq!(running.nodes, [place("a", 3_306, false), place("b", 3_307, true), place("::1", 3_308, true)]);
    assert!(!running.options.spread);
    assert_eq!((running.product, running.server.flavour), (ClusterProduct::Galera, Flavour::Mariadb));
}

#[test]
fn a_group_is_written_as_a_galera_cluster_is() {
    let private = ClusterTarget::parse("mysql+group:?nodes=2&ram=on").unwrap();
    assert!(private.is_private() && private.options.server.common.ram);
    assert_eq!((private.product, private.server.flavour), (ClusterProduct::Group, Flavour::Mysql));
    let running = ClusterTarget::parse("group://ann@a,b:3307/tpce?causal=off").unwrap();
    assert_eq!((running.product, running.nodes.len(), running.is_private()), (ClusterProduct::Group, 2, false));
    refused("mysql+group:?provider=x", "provider");
    refused("mysql+group://ann@a,b/tpce", "one that runs already is `group://…`");
    refused("mariadb+galera://a,b/tpce", "one that runs already is `galera://…`");
    refused("group://u@a,b/d?nodes=2", "the servers' own configuration");
}

#[test]
fn every_option_is_read_as_it_is_shown() {
    bourse_testkit::every_option_is_read_as_it_is_shown(
        &GRAMMAR,
        &ClusterOptions::DEFAULT,
        |scheme| if scheme.name.contains('+') { ":" } else { "://u@h,i/d" },
        |text| ClusterTarget::parse(text).map(|target| target.options),
    );
}

#[test]
fn an_invalid_target_is_refused_with_what_was_expected() {
    refused("galera://u@a,b:x/d", "its port is not a number");
    refused("galera://u@a,b", "it names no database");
    refused("mariadb+galera:?nodes=0", "a number from 1 to 9");
    refused("mariadb+galera:?node=3", "did you mean 'nodes'?");
    refused("mariadb+galera:/disk?ram=on", "either in memory or in that folder");
    refused("galera://u@a,b/d?flush_log=2", "the servers' own configuration");
    for target in ["galera://ann:secret@a,b/d", "galera://ann@a,b/d?password=secret"] {
        assert!(matches!(ClusterTarget::parse(target), Err(TargetError::Password { .. })), "{target}");
        refused(target, "must not contain a password");
    }
}
