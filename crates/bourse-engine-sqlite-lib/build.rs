//! Sets the `cfg` that selects this copy of the library: see `ffi.rs`.

fn main() {
    println!("cargo:rustc-cfg=loaded");
    println!("cargo:rerun-if-changed=build.rs");
}
