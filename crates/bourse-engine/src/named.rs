//! Enums whose variants have names.

/// Defines an enum, and its method `name`, which returns the name of each variant in tables and documents.
///
/// ```
/// bourse_engine::named! {
///     /// Primary colour.
///     #[derive(Debug, Clone, Copy)]
///     pub enum Colour {
///         Red = "red",
///         Blue = "blue",
///     }
/// }
/// assert_eq!(Colour::Blue.name(), "blue");
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* $visibility:vis enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$attribute])*
        $visibility enum $type { $($(#[$doc])* $variant),+ }

        impl $type {
            /// Name in tables and documents.
            $visibility const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}
