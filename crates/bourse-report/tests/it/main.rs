//! What a person sees, held in snapshots; run files come from a small builder.

mod fixture;
mod html;
mod text;
