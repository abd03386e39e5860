/*
 * Replaces a program's calls on files: counts reads, writes and syncs of the files below one folder, makes one of them fail,
 * updates an image of what is on the disk for certain, and records the operations. Allocations are counted, and fail, while
 * the control file says that the engine changes or commits.
 *
 * Preloaded (LD_PRELOAD) into the process of an engine. A control file, which both sides map or read, has the fault to make
 * and the counts; control.rs describes its layout. Settings are absolute paths in the environment:
 *
 *   BOURSE_PRELOAD_CONTROL    the control file
 *   BOURSE_PRELOAD_FILES      the folder whose files are watched
 *   BOURSE_PRELOAD_IMAGE      the folder of the image: a copy of the files as they were before; may be missing
 *   BOURSE_PRELOAD_RECORDING  the file that operations are appended to; may be missing
 *
 * The image: a write goes to the file alone and is noted. A sync that is done copies what was noted from the file to its
 * image. A sync that fails forgets what was noted, as Linux does, which marks the pages clean. A sync that lies does
 * nothing. A new file's name, also one by a link, is in the image with its first sync; deletions and renames are once the
 * folder is synced.
 *
 * Several processes may share a control file: those of a server, whether they are forked or started with the library.
 */
#include "shared.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

struct control *control;
char files[PATH_MAX], image[PATH_MAX];
size_t files_length;

/* Files that are mapped into this process's memory, while they are. */
#define MAPS 64
static struct map {
    char *address;
    size_t length;
    int protection;
    char path[PATH_MAX];
} maps[MAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

long real_open(const char *path, int flags, mode_t mode) {
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("BOURSE_PRELOAD_CONTROL"), *folder = getenv("BOURSE_PRELOAD_FILES");
    const char *copy = getenv("BOURSE_PRELOAD_IMAGE"), *record = getenv("BOURSE_PRELOAD_RECORDING");
    if (!name || !folder || strlen(folder) >= PATH_MAX - 1) return;
    bool has_image = copy && strlen(copy) < PATH_MAX - 1;
    size_t length = has_image ? STATE_AT + STATE_BYTES : STATE_AT;
    int fd = (int)real_open(name, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *mapped = MAP_FAILED;
    if (syscall(SYS_flock, fd, LOCK_EX) == 0) {
        struct stat found;
        bool is_long = fstat(fd, &found) == 0 && ((size_t)found.st_size >= length || syscall(SYS_ftruncate, fd, length) == 0);
        if (is_long) mapped = (void *)syscall(SYS_mmap, NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped != MAP_FAILED && has_image) begin_image((char *)mapped + STATE_AT);
        /* Closing would not do that: the memory has the file open, too. */
        syscall(SYS_flock, fd, LOCK_UN);
    }
    syscall(SYS_close, fd);
    if (mapped == MAP_FAILED) return;
    strcpy(files, folder);
    files_length = strlen(files);
    if (has_image) strcpy(image, copy);
    control = mapped;
    if (record) begin_recording(record);
    if (control->loaded++ == 0) control->first = (uint64_t)syscall(SYS_getpid);
}

/*
 * The end of all processes that share the control: of this one, of the first one if it is this one's parent, and of each
 * other one at its next call. So nothing is done to the files any more.
 */
static void end_all(void) {
    control->ended = 1;
    if ((uint64_t)syscall(SYS_getppid) == control->first) syscall(SYS_kill, (pid_t)control->first, SIGKILL);
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* Whether a path is below the folder; files that nobody expects to outlive the process are not. */
static bool is_watched(const char *path) {
    if (strncmp(path, files, files_length) != 0 || (path[files_length] != '/' && path[files_length] != 0)) return false;
    size_t length = strlen(path);
    /* PostgreSQL's shared memory, where it is files. */
    if (strstr(path + files_length, "/pg_dynshmem/")) return false;
    const char *passing[] = {"-shm", "-lock", " (deleted)"};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        size_t end = strlen(passing[i]);
        if (length > end && strcmp(path + length - end, passing[i]) == 0) return false;
    }
    return true;
}

/* The path of an open file below the folder; false for all others. */
static bool path_of(int fd, char *path) {
    if (!control || fd < 0) return false;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return false;
    path[length] = 0;
    if (!is_watched(path)) return false;
    if (control->ended) end_all();
    return true;
}

/* Counts a call; what is to become of it. */
static enum effect met(enum call call, const char *name, const char *path, off_t at, size_t length) {
    if (!control->armed) return NONE;
    uint64_t number = ++control->count[call], nth = control->nth;
    enum effect effect = (enum effect)control->effect;
    bool lasts = effect == FAIL_ON || effect == FULL || effect == LIE;
    /* The second fault of two: of the next write or sync, whichever it is. */
    if (effect == FAIL_TWICE && control->fired == 1 && (call == WRITE || call == SYNC)) {
        control->fired++;
        return FAIL_ONCE;
    }
    if (control->call != call || number < nth || (number > nth && !lasts)) return NONE;
    if (control->fired++ == 0) {
        const char *file = path + files_length + (path[files_length] == '/');
        int end = snprintf(control->what, sizeof control->what, "%s of %s", name, *file ? file : "the folder");
        if (call == ALLOCATE) snprintf(control->what, sizeof control->what, "%s of %zu bytes", name, length);
        else if (length && end > 0 && (size_t)end < sizeof control->what)
            snprintf(control->what + end, sizeof control->what - (size_t)end, ", %zu bytes at %lld", length, (long long)at);
    }
    if (effect == END) end_all();
    return effect == FAIL_TWICE ? FAIL_ONCE : effect;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);

/* The allocator of the program, which need not be the C library's; while it is looked for that one serves. */
static void find_allocator(void) {
    next_malloc = __libc_malloc, next_calloc = __libc_calloc, next_realloc = __libc_realloc;
    void *found[] = {dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "calloc"), dlsym(RTLD_NEXT, "realloc")};
    if (!found[0] || !found[1] || !found[2]) return;
    *(void **)&next_malloc = found[0], *(void **)&next_calloc = found[1], *(void **)&next_realloc = found[2];
}

/* Whether an allocation is to fail. */
static bool lacks_memory(const char *name, size_t length) {
    if (!next_malloc) find_allocator();
    if (!control || !control->changing || met(ALLOCATE, name, files, 0, length) == NONE) return false;
    errno = ENOMEM;
    return true;
}

PUBLIC void *malloc(size_t length) { return lacks_memory("malloc", length) ? NULL : next_malloc(length); }
PUBLIC void *calloc(size_t count, size_t length) {
    return lacks_memory("calloc", count * length) ? NULL : next_calloc(count, length);
}
PUBLIC void *realloc(void *old, size_t length) {
    return lacks_memory("realloc", length) ? NULL : next_realloc(old, length);
}

/* ---- reads ---- */

/* Whether reads are met: those of a recording are not recorded, and looking a file's path up takes longer than reading it. */
static bool meets_reads(void) { return control && (control->armed || control->ended); }

static ssize_t do_read(const char *name, int fd, void *to, size_t length, off_t at, bool placed) {
    char path[PATH_MAX];
    if (meets_reads() && path_of(fd, path)) {
        enum effect effect = met(READ, name, path, placed ? at : 0, length);
        if (effect == FAIL_ONCE || effect == FAIL_ON) return errno = EIO, -1;
        if (effect == HALF && length > 1) length /= 2;
    }
    return placed ? syscall(SYS_pread64, fd, to, length, at) : syscall(SYS_read, fd, to, length);
}

PUBLIC ssize_t read(int fd, void *to, size_t length) { return do_read("read", fd, to, length, 0, false); }
PUBLIC ssize_t pread(int fd, void *to, size_t length, off_t at) { return do_read("pread", fd, to, length, at, true); }
PUBLIC ssize_t pread64(int fd, void *to, size_t length, off_t at) { return do_read("pread", fd, to, length, at, true); }
/* As programs call them that were compiled with checks of the buffer. */
PUBLIC ssize_t __read_chk(int fd, void *to, size_t length, size_t room) {
    if (length > room) abort();
    return do_read("read", fd, to, length, 0, false);
}
PUBLIC ssize_t __pread64_chk(int fd, void *to, size_t length, off_t at, size_t room) {
    if (length > room) abort();
    return do_read("pread", fd, to, length, at, true);
}
PUBLIC ssize_t __pread_chk(int fd, void *to, size_t length, off_t at, size_t room) {
    return __pread64_chk(fd, to, length, at, room);
}

static size_t total(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
    return bytes;
}

PUBLIC ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at) {
    char path[PATH_MAX];
    if (meets_reads() && path_of(fd, path)) {
        enum effect effect = met(READ, "preadv", path, at, total(parts, count));
        if (effect == FAIL_ONCE || effect == FAIL_ON) return errno = EIO, -1;
        if (effect == HALF && count > 0) return syscall(SYS_pread64, fd, parts->iov_base, (parts->iov_len + 1) / 2, at);
    }
    return syscall(SYS_preadv, fd, parts, count, at, 0);
}
PUBLIC ssize_t preadv64(int fd, const struct iovec *parts, int count, off_t at) { return preadv(fd, parts, count, at); }

/* ---- writes ---- */

/* Pages of mapped files that cannot be read any more: an empty file stands in their place. */
static void blind(void) {
    int empty = (int)syscall(SYS_memfd_create, "unreadable", MFD_CLOEXEC);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPS && empty >= 0; i++)
        if (maps[i].address)
            syscall(SYS_mmap, maps[i].address, maps[i].length, maps[i].protection, MAP_SHARED | MAP_FIXED, empty, 0);
    pthread_mutex_unlock(&lock);
    syscall(SYS_close, empty);
}

static ssize_t do_write(const char *name, int fd, const struct iovec *parts, int count, off_t at, bool placed) {
    char path[PATH_MAX];
    struct stat found;
    struct iovec fewer[64];
    bool fails_after = false, lies = false, is_synced = false;
    bool watched = path_of(fd, path) && fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
    if (watched) {
        size_t length = total(parts, count);
        int flags = fcntl(fd, F_GETFL);
        if (!placed) at = (flags & O_APPEND) ? found.st_size : syscall(SYS_lseek, fd, 0, SEEK_CUR);
        enum effect effect = met(WRITE, name, path, at, length);
        if (effect == FAIL_ONCE || effect == FAIL_ON) return errno = EIO, -1;
        if (effect == BLIND) blind();
        if (effect == HALF && length > 1 && count <= 64) {
            size_t left = length / 2;
            int i = 0;
            for (; i < count && left; i++) {
                fewer[i] = parts[i];
                if (fewer[i].iov_len > left) fewer[i].iov_len = left;
                left -= fewer[i].iov_len;
            }
            parts = fewer, count = i;
        }
        if (at + (off_t)length > found.st_size && met(GROW, name, path, at, length) == FULL) return errno = ENOSPC, -1;
        if (flags & (O_DSYNC | O_SYNC)) {
            effect = met(SYNC, name, path, at, length);
            is_synced = true, lies = effect == LIE, fails_after = effect == FAIL_ONCE || effect == FAIL_ON;
        }
    }
    ssize_t wrote = placed ? syscall(SYS_pwritev, fd, parts, count, at, 0) : syscall(SYS_writev, fd, parts, count);
    if (watched && wrote > 0) {
        int kept = errno;
        recorded(WRITTEN, path, (uint64_t)at, parts, count, (size_t)wrote);
        if (!fails_after) touched(path, at, at + wrote);
        if (is_synced && !lies && !fails_after) {
            uint64_t length = (uint64_t)wrote;
            struct iovec bytes = {&length, sizeof length};
            recorded(WRITTEN_THROUGH, path, (uint64_t)at, &bytes, 1, sizeof length);
            written_through(fd, path, at, at + wrote);
        }
        errno = kept;
    }
    return fails_after ? (errno = EIO, -1) : wrote;
}

PUBLIC ssize_t write(int fd, const void *from, size_t length) {
    struct iovec part = {(void *)from, length};
    return do_write("write", fd, &part, 1, 0, false);
}
PUBLIC ssize_t pwrite(int fd, const void *from, size_t length, off_t at) {
    struct iovec part = {(void *)from, length};
    return do_write("pwrite", fd, &part, 1, at, true);
}
PUBLIC ssize_t pwrite64(int fd, const void *from, size_t length, off_t at) { return pwrite(fd, from, length, at); }
PUBLIC ssize_t writev(int fd, const struct iovec *parts, int count) {
    return do_write("writev", fd, parts, count, 0, false);
}
PUBLIC ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    return do_write("pwritev", fd, parts, count, at, true);
}
PUBLIC ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) {
    return do_write("pwritev", fd, parts, count, at, true);
}

/* Bytes of one file that become another's without a write. */
PUBLIC ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
    char path[PATH_MAX];
    bool watched = path_of(to, path);
    off_t at = !watched ? 0 : to_at ? *to_at : syscall(SYS_lseek, to, 0, SEEK_CUR);
    if (watched) {
        struct stat found;
        enum effect effect = met(WRITE, "copy_file_range", path, at, length);
        if (effect == FAIL_ONCE || effect == FAIL_ON) return errno = EIO, -1;
        if (effect == BLIND) blind();
        if (effect == HALF && length > 1) length /= 2;
        bool grows = fstat(to, &found) == 0 && at + (off_t)length > found.st_size;
        if (grows && met(GROW, "copy_file_range", path, at, length) == FULL) return errno = ENOSPC, -1;
    }
    ssize_t copied = syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
    if (watched && copied > 0) {
        int kept = errno;
        touched(path, at, at + copied);
        cannot_be_recorded("copy_file_range", path);
        errno = kept;
    }
    return copied;
}

/* ---- sizes ---- */

/* Whether a file may grow; a disk that is full stays so. */
static bool may_grow(const char *name, const char *path, off_t size) {
    if (met(GROW, name, path, size, 0) != FULL) return true;
    errno = ENOSPC;
    return false;
}

PUBLIC int ftruncate(int fd, off_t size) {
    char path[PATH_MAX];
    struct stat found;
    bool watched = path_of(fd, path) && fstat(fd, &found) == 0;
    if (watched && size > found.st_size && !may_grow("ftruncate", path, size)) return -1;
    int done = (int)syscall(SYS_ftruncate, fd, size);
    if (watched && done == 0) {
        off_t before = found.st_size;
        recorded(RESIZED, path, (uint64_t)size, NULL, 0, 0);
        touched(path, before < size ? before : size, before < size ? size : before);
    }
    return done;
}
PUBLIC int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

/* A part of a file was allocated: it may have made the file longer, or emptied that part. */
static void allocated(int fd, const char *path, int mode, off_t at, off_t length) {
    struct stat found;
    touched(path, at, at + length);
    bool is_behind = (mode & FALLOC_FL_PUNCH_HOLE) && fstat(fd, &found) == 0 && at >= found.st_size;
    if ((mode & ~FALLOC_FL_KEEP_SIZE) && !is_behind) cannot_be_recorded("fallocate", path);
    else if (!mode && fstat(fd, &found) == 0) recorded(RESIZED, path, (uint64_t)found.st_size, NULL, 0, 0);
}

PUBLIC int fallocate(int fd, int mode, off_t at, off_t length) {
    char path[PATH_MAX];
    bool watched = path_of(fd, path);
    if (watched && !(mode & FALLOC_FL_PUNCH_HOLE) && !may_grow("fallocate", path, at + length)) return -1;
    int done = (int)syscall(SYS_fallocate, fd, mode, at, length);
    if (watched && done == 0) allocated(fd, path, mode, at, length);
    return done;
}
PUBLIC int fallocate64(int fd, int mode, off_t at, off_t length) { return fallocate(fd, mode, at, length); }

/* This one returns its error. */
PUBLIC int posix_fallocate(int fd, off_t at, off_t length) {
    char path[PATH_MAX];
    bool watched = path_of(fd, path);
    if (watched && !may_grow("posix_fallocate", path, at + length)) return ENOSPC;
    int (*next)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    int error = next ? next(fd, at, length) : ENOSYS;
    if (watched && error == 0) allocated(fd, path, 0, at, length);
    return error;
}
PUBLIC int posix_fallocate64(int fd, off_t at, off_t length) { return posix_fallocate(fd, at, length); }

/* ---- syncs ---- */

/* A sync by `number` with its arguments; the file is `fd`, if it is one of ours. */
static int do_sync(const char *name, int fd, const char *path, long number, void *address, size_t length, int flags) {
    enum effect effect = path ? met(SYNC, name, path, 0, 0) : NONE;
    if (effect == LIE) return 0;
    if (effect == FAIL_ONCE || effect == FAIL_ON) {
        dropped(path);
        return errno = EIO, -1;
    }
    struct stat found;
    if (path && recording >= 0 && fstat(fd, &found) == 0)
        recorded(S_ISDIR(found.st_mode) ? SYNCED_FOLDER : SYNCED, path, 0, NULL, 0, 0);
    int done = 0;
    /* Where the disk is simulated, or its operations are recorded, there is nothing to wait for. */
    if (!path || (!*image && recording < 0)) done = (int)(number == SYS_msync ? syscall(number, address, length, flags) : syscall(number, fd));
    if (path && done == 0) {
        int kept = errno;
        synced(fd, path);
        errno = kept;
    }
    return done;
}

PUBLIC int fsync(int fd) {
    char path[PATH_MAX];
    return do_sync("fsync", fd, path_of(fd, path) ? path : NULL, SYS_fsync, NULL, 0, 0);
}
PUBLIC int fdatasync(int fd) {
    char path[PATH_MAX];
    return do_sync("fdatasync", fd, path_of(fd, path) ? path : NULL, SYS_fdatasync, NULL, 0, 0);
}
PUBLIC int msync(void *address, size_t length, int flags) {
    char path[PATH_MAX] = "";
    if (control && (flags & MS_SYNC)) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < MAPS; i++)
            if (maps[i].address && (char *)address >= maps[i].address && (char *)address < maps[i].address + maps[i].length)
                strcpy(path, maps[i].path);
        pthread_mutex_unlock(&lock);
    }
    if (!*path) return (int)syscall(SYS_msync, address, length, flags);
    int fd = (int)real_open(path, O_RDONLY | O_CLOEXEC, 0);
    int done = do_sync("msync", fd, fd < 0 ? NULL : path, SYS_msync, address, length, flags);
    int kept = errno;
    if (fd >= 0) syscall(SYS_close, fd);
    errno = kept;
    return done;
}

/* ---- maps ---- */

PUBLIC void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t at) {
    char path[PATH_MAX];
    void *mapped = (void *)syscall(SYS_mmap, address, length, protection, flags, fd, at);
    if (mapped == MAP_FAILED || !(flags & MAP_SHARED) || (flags & MAP_ANONYMOUS) || !path_of(fd, path)) return mapped;
    control->maps++;
    if (protection & PROT_WRITE) {
        mapped_for_writing(path);
        cannot_be_recorded("a writable memory map", path);
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPS; i++)
        if (!maps[i].address) {
            maps[i].address = mapped, maps[i].length = length, maps[i].protection = protection;
            strcpy(maps[i].path, path);
            break;
        }
    pthread_mutex_unlock(&lock);
    return mapped;
}
PUBLIC void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t at) {
    return mmap(address, length, protection, flags, fd, at);
}
PUBLIC void *mremap(void *address, size_t length, size_t fresh, int flags, ...) {
    va_list more;
    va_start(more, flags);
    void *place = (flags & MREMAP_FIXED) ? va_arg(more, void *) : NULL;
    va_end(more);
    void *mapped = (void *)syscall(SYS_mremap, address, length, fresh, flags, place);
    if (!control || mapped == MAP_FAILED) return mapped;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPS; i++)
        if (maps[i].address == address) maps[i].address = mapped, maps[i].length = fresh;
    pthread_mutex_unlock(&lock);
    return mapped;
}
PUBLIC int munmap(void *address, size_t length) {
    if (control) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < MAPS; i++)
            if (maps[i].address == address) maps[i].address = NULL;
        pthread_mutex_unlock(&lock);
    }
    return (int)syscall(SYS_munmap, address, length);
}

/* ---- names ---- */

/* The path as it is without links, so that it can be compared with an open file's. */
static bool named(const char *name, char *path) {
    if (!control || (!*image && recording < 0)) return false;
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/');
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - name + 1) : 1, slash ? name : ".") >= sizeof folder)
        return false;
    if (!realpath(folder, path)) return false;
    size_t length = strlen(path);
    if (length + strlen(slash ? slash + 1 : name) + 2 > PATH_MAX) return false;
    path[length] = '/';
    strcpy(path + length + 1, slash ? slash + 1 : name);
    if (!is_watched(path)) return false;
    if (control->ended) end_all();
    return true;
}

PUBLIC int unlink(const char *name) {
    char path[PATH_MAX];
    bool watched = named(name, path);
    int done = (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
    if (watched && done == 0) {
        recorded(REMOVED, path, 0, NULL, 0, 0);
        changed(path, "");
    }
    return done;
}
/* The C library's own would call what is not seen here. */
PUBLIC int remove(const char *name) {
    int done = unlink(name);
    return done < 0 && errno == EISDIR ? (int)syscall(SYS_unlinkat, AT_FDCWD, name, AT_REMOVEDIR) : done;
}
static int do_rename(const char *from, const char *to, bool keeps) {
    char old[PATH_MAX], fresh[PATH_MAX];
    bool watched = named(from, old) && named(to, fresh);
    int done = keeps ? (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0)
                     : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (watched && done == 0) {
        struct iovec to_path = {fresh + files_length, strlen(fresh + files_length)};
        recorded(RENAMED, old, 0, &to_path, 1, to_path.iov_len);
        if (!keeps) changed(old, fresh);
    }
    return done;
}
PUBLIC int rename(const char *from, const char *to) { return do_rename(from, to, false); }
/* PostgreSQL removes the old name next: in the recording the file has the new one from here on. */
PUBLIC int link(const char *from, const char *to) { return do_rename(from, to, true); }

/* Opens a file; its creation, or its truncation, is recorded. */
static int do_open(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    bool watched = recording >= 0 && (flags & (O_CREAT | O_TRUNC)) && (folder == AT_FDCWD || *name == '/') && named(name, path);
    bool existed = watched && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    int fd = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (watched && fd >= 0 && !existed) recorded(CREATED, path, 0, NULL, 0, 0);
    else if (watched && fd >= 0 && (flags & O_TRUNC)) recorded(RESIZED, path, 0, NULL, 0, 0);
    return fd;
}

/* Permissions of a new file, which are passed only if one may be made. */
static mode_t mode_of(int flags, va_list more) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

#define OPEN(NAME, PARAMETERS, FOLDER)                                                                                         \
    PUBLIC int NAME PARAMETERS {                                                                                               \
        va_list more;                                                                                                          \
        va_start(more, flags);                                                                                                 \
        mode_t mode = mode_of(flags, more);                                                                                    \
        va_end(more);                                                                                                          \
        return do_open(FOLDER, name, flags, mode);                                                                             \
    }
OPEN(open, (const char *name, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *name, int flags, ...), AT_FDCWD)
OPEN(openat, (int folder, const char *name, int flags, ...), folder)
OPEN(openat64, (int folder, const char *name, int flags, ...), folder)

