//! Compiles the yardsticks in C against the SQLite that Bourse is linked with.

fn main() {
    println!("cargo:rerun-if-changed=c");
    let include = std::env::var("DEP_SQLITE3_INCLUDE").expect("the bundled SQLite tells where its header is");
    cc::Build::new()
        .file("c/load.c")
        .file("c/rows.c")
        .include(include)
        .opt_level(2)
        .warnings(true)
        .compile("bourse_yardsticks");
}
