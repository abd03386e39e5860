//! The Java virtual machine: found, loaded and started once per process, with threads attached to it once each.

use crate::options::JdbcOptions;
use bourse_engine::locked;
use jni_sys::{
    JNI_OK, JNI_VERSION_1_6, JNIEnv, JavaVM, JavaVMInitArgs, JavaVMOption, jclass, jmethodID, jobject, jvalue,
};
use libloading::Library;
use std::cell::Cell;
use std::env;
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::thread;

/// Paths of the library below a runtime's folder: today's, and those of Java 8.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["bin/server/jvm.dll", "jre/bin/server/jvm.dll"]
} else if cfg!(target_os = "macos") {
    &["lib/server/libjvm.dylib", "jre/lib/server/libjvm.dylib"]
} else {
    &["lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so", "lib/amd64/server/libjvm.so"]
};

/// Class of the bridge, compiled from `java/bourse/jdbc/Bridge.java`.
static BRIDGE: &[u8] = include_bytes!("../java/bourse/jdbc/Bridge.class");

/// Reason for a refused class, which is compiled for Java 11.
const TOO_OLD: &str = "Java 11 or later is needed";

/// Error for a virtual machine that is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{why}; a Java runtime is a package such as openjdk-17-jre-headless; name its folder in $JAVA_HOME or with `java=`"
)]
pub(crate) struct NoMachine {
    why: String,
}

fn no_machine(why: impl Into<String>) -> NoMachine {
    NoMachine { why: why.into() }
}

/// Methods of the bridge: name and signature, in the order of [`BridgeMethod`].
const METHODS: [(&CStr, &CStr); 18] = [
    (c"connect", c"()J"),
    (c"connectToEnd", c"()J"),
    (c"prepare", c"(I)J"),
    (c"run", c"(II)J"),
    (c"fetch", c"()J"),
    (c"cancel", c"()J"),
    (c"interrupt", c"()J"),
    (c"each", c"(II)J"),
    (c"batch", c"(II)J"),
    (c"begin", c"(I)J"),
    (c"commit", c"()J"),
    (c"rollback", c"()J"),
    (c"close", c"()J"),
    (c"facts", c"()J"),
    (c"heap", c"()J"),
    (c"grow", c"(I)J"),
    (c"buffer", c"(I)Ljava/lang/Object;"),
    (c"<init>", c"(II)V"),
];

/// Method of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BridgeMethod {
    Connect,
    ConnectToEnd,
    Prepare,
    Run,
    Fetch,
    Cancel,
    Interrupt,
    Each,
    Batch,
    Begin,
    Commit,
    Rollback,
    Close,
    Facts,
    Heap,
    Grow,
    Buffer,
    New,
}

/// Running machine.
pub(crate) struct JavaMachine {
    vm: *mut JavaVM,
    class: jclass,
    methods: [jmethodID; METHODS.len()],
    /// Library that it was loaded from.
    pub(crate) library: PathBuf,
    /// Heap size that it was started with, in bytes; `None` for its own default.
    pub(crate) heap_bytes: Option<u64>,
}

// SAFETY: any thread may use the machine once it is attached; class and methods live as long as the machine, which never ends.
unsafe impl Send for JavaMachine {}
// SAFETY: as above.
unsafe impl Sync for JavaMachine {}

/// Library of the runtime that a target names.
///
/// # Errors
/// [`NoMachine`]: where it was looked for.
pub(crate) fn library(java: Option<&Path>) -> Result<PathBuf, NoMachine> {
    let below = |home: &Path| LIBRARIES.iter().map(|library| home.join(library)).find(|path| path.is_file());
    let named = |home: &Path, by: &str| {
        below(home).ok_or_else(|| {
            no_machine(format!("{} holds no Java runtime: no {}; {by} names it", home.display(), LIBRARIES[0]))
        })
    };
    if let Some(home) = java {
        return named(home, "`java=`");
    }
    if let Some(home) = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return named(Path::new(&home), "$JAVA_HOME");
    }
    let name = if cfg!(windows) { "java.exe" } else { "java" };
    let path = env::var_os("PATH").unwrap_or_default();
    let program = env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    let Some(program) = program.and_then(|program| program.canonicalize().ok()) else {
        return Err(no_machine(
            "no Java virtual machine: $JAVA_HOME is not set, and there is no program `java` on the PATH",
        ));
    };
    let home = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    below(home).ok_or_else(|| no_machine(format!("no Java virtual machine next to {}", program.display())))
}

/// Machine of this process, started at first use with that target's settings.
///
/// # Errors
/// [`NoMachine`]: it is unavailable, or does not start.
pub(crate) fn machine(options: &JdbcOptions) -> Result<&'static JavaMachine, NoMachine> {
    static MACHINE: Mutex<Option<Result<&'static JavaMachine, NoMachine>>> = Mutex::new(None);
    let mut machine = locked(&MACHINE);
    match &*machine {
        Some(Ok(running)) => return Ok(running),
        // A machine that could not be started cannot be started again in the same process.
        Some(Err(why)) => return Err(why.clone()),
        None => {}
    }
    let library = library(options.java.as_deref())?;
    if let (Some(heap), Some(memory)) = (options.heap_bytes, memory_bytes())
        && heap > memory
    {
        let mib = |bytes: u64| bytes >> 20;
        return Err(no_machine(format!(
            "invalid value for 'heap': {} MiB are more than this machine's memory of {} MiB",
            mib(heap),
            mib(memory)
        )));
    }
    let heap = options.heap_bytes;
    // On a thread of its own: the first thread's stack grows while it runs, and the machine would not know where it ends.
    let started = thread::Builder::new().name("java".to_owned()).spawn(move || start(&library, heap));
    let started = match started {
        Ok(thread) => thread.join().unwrap_or_else(|_| Err(no_machine("the Java virtual machine did not start"))),
        Err(error) => return Err(no_machine(format!("no thread for the Java virtual machine: {error}"))),
    };
    machine.insert(started.map(|machine| &*Box::leak(Box::new(machine)))).clone()
}

/// Memory of the computer in bytes.
fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Command-line arguments of the machine.
fn arguments(heap_bytes: Option<u64>) -> Vec<String> {
    let mut all = vec![
        // Signals stay the program's.
        "-Xrs".to_owned(),
        // No file of counters in the system's folder for temporary files, which it would write to while it runs.
        "-XX:-UsePerfData".to_owned(),
        // A compiler's thread that ended would take the count of its CPU time with it.
        "-XX:+UnlockDiagnosticVMOptions".to_owned(),
        "-XX:-ReduceNumberOfCompilerThreads".to_owned(),
        // Times are without zone: no hour is skipped or repeated on their way.
        "-Duser.timezone=UTC".to_owned(),
        format!("-XX:ErrorFile={}", env::temp_dir().join("bourse-java-%p.log").display()),
    ];
    if let Some(bytes) = heap_bytes {
        all.push(format!("-Xms{bytes}"));
        all.push(format!("-Xmx{bytes}"));
    }
    all
}

type CreateJavaVm = unsafe extern "system" fn(*mut *mut JavaVM, *mut *mut c_void, *mut c_void) -> i32;

/// Loads the library and starts the machine, on a thread that ends afterwards.
fn start(path: &Path, heap_bytes: Option<u64>) -> Result<JavaMachine, NoMachine> {
    // SAFETY: the library is the runtime's own, whose initialization loads no class of Bourse's.
    let library = unsafe { Library::new(path) }
        .map_err(|error| no_machine(format!("cannot load {}: {error}", path.display())))?;
    // SAFETY: every such library has this function, with this signature.
    let create: CreateJavaVm = unsafe { library.get::<CreateJavaVm>(b"JNI_CreateJavaVM\0") }
        .map(|create| *create)
        .map_err(|error| no_machine(format!("{} is no Java virtual machine: {error}", path.display())))?;
    // It can be neither stopped nor unloaded.
    std::mem::forget(library);
    let texts: Vec<CString> = arguments(heap_bytes)
        .into_iter()
        .map(|text| CString::new(text).map_err(|_| no_machine("the folder for temporary files has a zero byte")))
        .collect::<Result<_, _>>()?;
    let mut options: Vec<JavaVMOption> = texts
        .iter()
        .map(|text| JavaVMOption { optionString: text.as_ptr().cast_mut(), extraInfo: null_mut() })
        .collect();
    let mut arguments = JavaVMInitArgs {
        version: JNI_VERSION_1_6,
        nOptions: i32::try_from(options.len()).expect("a handful"),
        options: options.as_mut_ptr(),
        ignoreUnrecognized: false,
    };
    let (mut vm, mut env) = (null_mut(), null_mut());
    // SAFETY: the arguments live until this returns, which copies them; there are places for both results.
    let created = unsafe { create(&mut vm, &mut env, (&raw mut arguments).cast()) };
    if created != JNI_OK {
        return Err(no_machine(format!("{} does not start (JNI error {created})", path.display())));
    }
    // SAFETY: the machine runs, and this thread is attached to it.
    let machine = unsafe { define(vm, env.cast(), path, heap_bytes) };
    // SAFETY: nothing of this thread is used in the machine any more.
    unsafe { ((**vm).v1_4.DetachCurrentThread)(vm) };
    machine
}

/// Defines the bridge's class in a machine that has just started.
///
/// # Safety
/// The machine must run, and `env` be this thread's.
unsafe fn define(
    vm: *mut JavaVM,
    env: *mut JNIEnv,
    path: &Path,
    heap_bytes: Option<u64>,
) -> Result<JavaMachine, NoMachine> {
    // SAFETY: as the caller promises; names and signatures end in zero, and nothing is used that is null.
    unsafe {
        let jni = &(**env).v1_6;
        let failed = |what: &str| {
            (jni.ExceptionClear)(env);
            no_machine(format!("{} cannot {what}: {TOO_OLD}", path.display()))
        };
        let loaders = (jni.FindClass)(env, c"java/lang/ClassLoader".as_ptr());
        if loaders.is_null() {
            return Err(failed("find its class loader"));
        }
        let (name, signature) = (c"getSystemClassLoader", c"()Ljava/lang/ClassLoader;");
        let of_system = (jni.GetStaticMethodID)(env, loaders, name.as_ptr(), signature.as_ptr());
        if of_system.is_null() {
            return Err(failed("find its class loader"));
        }
        let loader = (jni.CallStaticObjectMethodA)(env, loaders, of_system, null());
        if (jni.ExceptionCheck)(env) {
            return Err(failed("make its class loader"));
        }
        let length = i32::try_from(BRIDGE.len()).expect("some kilobytes");
        let class = (jni.DefineClass)(env, c"bourse/jdbc/Bridge".as_ptr(), loader, BRIDGE.as_ptr().cast(), length);
        if class.is_null() {
            return Err(failed("read a class of Bourse's"));
        }
        let mut methods = [null_mut(); METHODS.len()];
        for (method, (name, signature)) in methods.iter_mut().zip(METHODS) {
            *method = (jni.GetMethodID)(env, class, name.as_ptr(), signature.as_ptr());
            if method.is_null() {
                return Err(failed("find a method of Bourse's"));
            }
        }
        let class = (jni.NewGlobalRef)(env, class);
        Ok(JavaMachine { vm, class, methods, library: path.to_owned(), heap_bytes })
    }
}

/// This thread's JNI environment, detached when the thread ends.
struct AttachedThread(Cell<*mut JNIEnv>, Cell<*mut JavaVM>);

impl Drop for AttachedThread {
    fn drop(&mut self) {
        let vm = self.1.get();
        if !vm.is_null() {
            // SAFETY: this thread is attached, and runs nothing of the machine's.
            unsafe { ((**vm).v1_4.DetachCurrentThread)(vm) };
        }
    }
}

thread_local! {
    static ATTACHED: AttachedThread = const { AttachedThread(Cell::new(null_mut()), Cell::new(null_mut())) };
}

impl JavaMachine {
    /// This thread's JNI environment; the thread is attached at first use, until it ends.
    #[inline]
    fn env(&self) -> Option<*mut JNIEnv> {
        let known = ATTACHED.try_with(|attached| attached.0.get()).unwrap_or(null_mut());
        if known.is_null() { self.attach() } else { Some(known) }
    }

    #[cold]
    fn attach(&self) -> Option<*mut JNIEnv> {
        let mut env = null_mut();
        // SAFETY: the machine runs; a thread that is attached already is given what it has.
        let attached = unsafe { ((**self.vm).v1_4.AttachCurrentThreadAsDaemon)(self.vm, &mut env, null_mut()) };
        if attached != JNI_OK {
            return None;
        }
        let env: *mut JNIEnv = env.cast();
        // A thread that is already ending cannot store it.
        let _ = ATTACHED.try_with(|attached| {
            attached.0.set(env);
            attached.1.set(self.vm);
        });
        Some(env)
    }

    /// Makes a bridge with buffers of these lengths.
    pub(crate) fn new_bridge(&self, buffers: [i32; 2]) -> Option<BridgeRef> {
        let env = self.env()?;
        let arguments = buffers.map(|bytes| jvalue { i: bytes });
        // SAFETY: this thread is attached; the constructor takes two integers.
        unsafe {
            let jni = &(**env).v1_6;
            let made = (jni.NewObjectA)(env, self.class, self.methods[BridgeMethod::New as usize], arguments.as_ptr());
            if (jni.ExceptionCheck)(env) {
                (jni.ExceptionClear)(env);
                return None;
            }
            let kept = (jni.NewGlobalRef)(env, made);
            (jni.DeleteLocalRef)(env, made);
            (!kept.is_null()).then_some(BridgeRef(kept))
        }
    }

    /// Calls a method that returns a number; `None` if the machine has failed. Methods use as many of the numbers as they need.
    #[inline]
    pub(crate) fn call(&self, object: &BridgeRef, method: BridgeMethod, numbers: [i32; 2]) -> Option<i64> {
        debug_assert!(!matches!(method, BridgeMethod::Buffer | BridgeMethod::New), "they return no number");
        let env = self.env()?;
        let arguments = numbers.map(|number| jvalue { i: number });
        // SAFETY: this thread is attached, the object is a bridge, and its methods take two integers at most.
        unsafe {
            let jni = &(**env).v1_6;
            let number = (jni.CallLongMethodA)(env, object.0, self.methods[method as usize], arguments.as_ptr());
            if (jni.ExceptionCheck)(env) {
                (jni.ExceptionClear)(env);
                return None;
            }
            Some(number)
        }
    }

    /// Address and length of a bridge's buffer: 0 for parameters, 1 for rows.
    pub(crate) fn buffer(&self, object: &BridgeRef, which: i32) -> Option<(*mut u8, usize)> {
        let env = self.env()?;
        let arguments = [jvalue { i: which }];
        // SAFETY: as above; the result is a direct buffer, which the bridge holds.
        unsafe {
            let jni = &(**env).v1_6;
            let buffer =
                (jni.CallObjectMethodA)(env, object.0, self.methods[BridgeMethod::Buffer as usize], arguments.as_ptr());
            if (jni.ExceptionCheck)(env) || buffer.is_null() {
                (jni.ExceptionClear)(env);
                return None;
            }
            let address = (jni.GetDirectBufferAddress)(env, buffer);
            let length = (jni.GetDirectBufferCapacity)(env, buffer);
            (jni.DeleteLocalRef)(env, buffer);
            usize::try_from(length).ok().filter(|_| !address.is_null()).map(|length| (address.cast(), length))
        }
    }

    /// Releases this program's reference to an object in the machine.
    pub(crate) fn release(&self, object: &BridgeRef) {
        if let Some(env) = self.env() {
            // SAFETY: this thread is attached, and the object is not used again.
            unsafe { ((**env).v1_6.DeleteGlobalRef)(env, object.0) }
        }
    }
}

/// Reference to a bridge in the machine; a copy is valid until the bridge is [released](JavaMachine::release).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BridgeRef(jobject);

// SAFETY: a global reference may be used by any thread that is attached.
unsafe impl Send for BridgeRef {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_is_not_there_is_told() {
        let refused = library(Some(Path::new("/no/such/java"))).unwrap_err().to_string();
        assert!(refused.starts_with("/no/such/java holds no Java runtime"), "{refused}");
        assert!(refused.contains("JAVA_HOME"), "{refused}");
    }

    #[test]
    fn the_heap_is_whole_from_the_start() {
        let all = arguments(Some(1 << 30));
        assert!(all.ends_with(&["-Xms1073741824".to_owned(), "-Xmx1073741824".to_owned()]), "{all:?}");
        assert_eq!(arguments(None).len(), all.len() - 2);
    }
}
