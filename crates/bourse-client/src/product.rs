//! Products that speak another one's protocol.

use bourse_engine::{Description, Setting};

/// A product that speaks the protocol of an engine, and what of that engine it does not have.
#[derive(Debug)]
pub struct Product<F: 'static> {
    /// Its name.
    pub name: &'static str,
    /// What its version has that no other's has.
    pub mark: &'static str,
    /// Whether Bourse was run on it; where not, how it differs is known from its documents alone.
    pub was_run: bool,
    /// How it differs.
    pub facts: F,
}

impl<F> Product<F> {
    /// The product of a version's text; `None` if it is the engine itself.
    pub fn of(products: &'static [Self], version: &str) -> Option<&'static Self> {
        products.iter().find(|product| version.contains(product.mark))
    }

    /// Says in a description what was run on.
    pub fn describe(&self, description: &mut Description) {
        description.settings.push(Setting { name: "product".to_owned(), value: self.name.to_owned() });
        if self.was_run {
            return;
        }
        description.warnings.push(format!(
            "the server is {}: what it refuses, and which of its errors are tried again, is known from its documents and was never \
             run by the authors of Bourse",
            self.name
        ));
    }
}
