//! Enums whose variants have names.

/// Defines an enum, its list `ALL` of the variants, and its method `name`, which returns the name of each in tables and documents;
/// it is also how each is displayed.
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
/// assert_eq!(Colour::ALL.map(Colour::name), ["red", "blue"]);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* $visibility:vis enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$attribute])*
        $visibility enum $type { $($(#[$doc])* $variant),+ }

        #[allow(dead_code, reason = "not every list is asked for")]
        impl $type {
            /// All of them.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Name in tables and documents.
            $visibility const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
