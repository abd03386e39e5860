//! Says which copy of the library the source is about: see `ffi.rs`.

fn main() {
    println!("cargo:rustc-cfg=loaded");
    println!("cargo:rerun-if-changed=build.rs");
}
