//! Databases that implement the protocol of another.

use bourse_engine::{Description, Setting};

/// A database that implements the protocol of an engine, and its differences from that engine.
#[derive(Debug)]
pub struct Product<F: 'static> {
    /// Name of the product.
    pub name: &'static str,
    /// Part of its version text that identifies it.
    pub mark: &'static str,
    /// Whether Bourse was run on it; if not, its differences are known from its documentation alone.
    pub was_run: bool,
    /// Differences from the engine.
    pub facts: F,
}

impl<F> Product<F> {
    /// Product that a version text identifies; `None` for the engine itself.
    pub fn of(products: &'static [Self], version: &str) -> Option<&'static Self> {
        products.iter().find(|product| version.contains(product.mark))
    }

    /// Adds the product to a description of the database.
    pub fn describe(&self, description: &mut Description) {
        description.settings.push(Setting::new("product", self.name));
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
