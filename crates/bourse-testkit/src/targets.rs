//! Conformance of the target grammars of engines with servers.

use bourse_engine::target::{Grammar, Scheme, TargetError};
use std::fmt::Debug;

/// Checks that each option is read back as it is shown by the schemes that have it, and refused by name by the others. `start`
/// is the text between a scheme and its options.
pub fn every_option_is_read_as_it_is_shown<O: PartialEq + Debug>(
    grammar: &Grammar<O>,
    defaults: &O,
    start: fn(&Scheme) -> &'static str,
    read: fn(&str) -> Result<O, TargetError>,
) {
    for scheme in grammar.schemes {
        for option in grammar.options {
            let shown = (option.show)(defaults);
            let text = format!("{}{}?{}={shown}", scheme.name, start(scheme), option.name);
            if !scheme.has(option.name) {
                let refused = read(&text).expect_err(&text).to_string();
                assert!(refused.contains(&format!("cannot be used with {}", scheme.kind)), "{text}: {refused}");
            } else if !shown.is_empty() {
                assert_eq!(read(&text).unwrap(), *defaults, "{}", option.name);
            }
        }
        // A name that no option has would keep nothing out.
        for name in scheme.without {
            assert!(grammar.options.iter().any(|option| option.name == *name), "{name}");
        }
    }
}
