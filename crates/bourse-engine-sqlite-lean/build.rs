//! Sets the `cfg` that selects this copy of the library: see `ffi.rs`.

fn main() {
    println!("cargo:rustc-cfg=lean");
    println!("cargo:rerun-if-changed=build.rs");
}
