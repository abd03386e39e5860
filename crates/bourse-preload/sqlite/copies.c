/* Copies of databases, as they are before the program's first statement, and of files that took their place. */
#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A file as the connections of all recorded processes last saw it; stored beside the traces. */
struct seen {
    uint64_t device, inode, born, changed, size; /* times in nanoseconds; born: 0 if the file system has none */
    uint32_t counter;                            /* of changes, in the database's head; 0: not known */
    uint32_t times;                              /* that another file took its place, or that it was emptied */
};

static uint64_t in_ns(int64_t seconds, uint32_t ns) { return (uint64_t)seconds * 1000000000u + ns; }

/* All but the counter; a file that is not there is empty, and no file. */
static struct seen look_at(const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) return (struct seen){0};
    struct seen found = {file.st_dev, file.st_ino, 0, in_ns(file.st_mtim.tv_sec, (uint32_t)file.st_mtim.tv_nsec), (uint64_t)file.st_size, 0, 0};
#if defined SYS_statx && defined STATX_BTIME
    struct statx more;
    /* glibc before 2.28 has no function for it. */
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BTIME, &more) == 0 && more.stx_mask & STATX_BTIME)
        found.born = in_ns(more.stx_btime.tv_sec, more.stx_btime.tv_nsec);
#endif
    return found;
}

/* A number of a deleted file may be used again. */
static bool is_same_file(const struct seen *a, const struct seen *b) {
    return a->device == b->device && a->inode == b->inode && (a->born == b->born || !a->born || !b->born);
}

/*
 * The counter of changes in the head of an open database: SQLite never lowers it, whoever writes and in each mode of its journal. Read by
 * SQLite's own file, since the locks of the process would end if another one of that path were closed. 0 where it is not known to last:
 * of other file systems of SQLite, and beside a journal that may be rolled back.
 */
static uint32_t counter_of(struct library *library, sqlite3 *db, const char *name, const char *path, const char *vfs) {
    enum { FILE_POINTER = 7 };
    struct {
        const struct {
            int version;
            int (*close)(void *);
            int (*read)(void *, void *, int, int64_t);
        } *methods;
    } *file = NULL;
    char journal[PATH_MAX + 8];
    uint8_t head[28];
    if (vfs && strncmp(vfs, "unix", 4) != 0) return 0;
    bool is_read = library->file_control(db, name, FILE_POINTER, &file) == OK && file && file->methods &&
                   file->methods->read(file, head, sizeof head, 0) == OK && memcmp(head, "SQLite format 3", 16) == 0;
    snprintf(journal, sizeof journal, "%s-journal", path);
    if (!is_read || look_at(journal).size) return 0;
    return (uint32_t)head[24] << 24 | (uint32_t)head[25] << 16 | (uint32_t)head[26] << 8 | head[27];
}

/* Whether another file took a database's place: by rename, by a copy over it, deleted and made anew, or emptied. A copy of a file system
   with layers, which the first write makes, has another number too, but the same time of change. */
static bool is_other(const struct seen *before, const struct seen *now) {
    if (!before->inode) return false;
    if (before->size && !now->size) return true;
    bool has_changed = before->changed != now->changed || before->size != now->size;
    return (!is_same_file(before, now) && has_changed) || (now->counter && now->counter < before->counter);
}

/* Opens what was last seen of a file, which other processes wait for until it is closed. */
static int hold(const char *path, struct seen *before) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%08x.seen", recorded_to, (uint32_t)digest(0, path, strlen(path)));
    int held = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (held >= 0) flock(held, LOCK_EX);
    if (held < 0 || pread(held, before, sizeof *before, 0) != sizeof *before) *before = (struct seen){0};
    return held;
}
static void let_go(int held, const struct seen *now) {
    if (held < 0) return;
    /* A full disk: it is seen as for the first time. */
    if (now && pwrite(held, now, sizeof *now, 0) != sizeof *now && ftruncate(held, 0)) errno = 0;
    close(held);
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

void left(const struct connection *connection) {
    struct library *library = connection->library;
    const char *path = connection->path;
    struct seen before;
    if (!path) return;
    int held = hold(path, &before);
    struct seen now = look_at(path);
    bool is_it = before.inode && is_same_file(&before, &now);
    if (is_it) {
        /* The last connection that is closed moves changes from the log into the file. */
        sqlite3 *db = NULL;
        struct library *outer = enter(library);
        bool is_open = library->open_v2(path, &db, OPEN_READONLY, connection->vfs) == OK;
        now.counter = larger(before.counter, is_open ? counter_of(library, db, "main", path, connection->vfs) : 0);
        now.times = before.times;
        if (db) library->close(db);
        leave(outer);
    }
    let_go(held, is_it ? &now : NULL);
}

/* Copies a database by SQLite's backup: its result code. While others have it locked, it waits for at most a second. */
static int backed_up(struct library *library, const char *path, int flags, const char *vfs, const char *to) {
    sqlite3 *source = NULL, *target = NULL;
    int code = library->open_v2(path, &source, flags & OPEN_READONLY ? OPEN_READONLY : OPEN_READWRITE, vfs);
    if (code == OK && (code = library->open_v2(to, &target, OPEN_READWRITE | OPEN_CREATE, NULL)) == OK) {
        library->db_config(source, 1006, 1, NULL); /* no checkpoint when it is closed: the original stays as it is */
        sqlite3_backup *backup = library->backup_init(target, "main", source, "main");
        for (int try = 0; backup && try < 100 && (code = library->backup_step(backup, -1)) != DONE; try++) {
            if ((code & 0xFF) != BUSY && (code & 0xFF) != LOCKED) break;
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        }
        if (!backup) code = ERROR;
        else if (library->backup_finish(backup) == OK && code == DONE) code = OK;
    }
    if (source) library->close(source);
    if (target) library->close(target);
    return code;
}

unsigned copied(struct library *library, sqlite3 *db, const char *name, int flags, const char *vfs, char *copy, size_t size, int *code) {
    const char *path = library->db_filename(db, name);
    if (!path || !*path) return IN_MEMORY;
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char to[PATH_MAX], part[PATH_MAX + 8];
    struct seen before;
    /* Other processes wait until the first one has a copy, which is of the time before all of them. */
    int held = hold(path, &before);
    struct library *outer = enter(library);
    struct seen now = look_at(path);
    now.counter = counter_of(library, db, name, path, vfs);
    bool is_new = is_other(&before, &now);
    now.times = before.times + is_new;
    if (!is_new) now.counter = larger(before.counter, now.counter);
    int length = snprintf(copy, size, "databases/%.200s-%08x", base, (uint32_t)digest(0, path, strlen(path)));
    if (now.times) snprintf(copy + length, size - (size_t)length, "-%u", now.times);
    snprintf(to, sizeof to, "%s/%s", recorded_to, copy);
    snprintf(part, sizeof part, "%s.part", to);
    unsigned state = MISSING;
    struct stat found;
    if (stat(to, &found) == 0) state = found.st_size ? COPIED : NEW;
    else if (now.size == 0) {
        int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) close(fd), state = NEW;
    } else if ((*code = backed_up(library, path, flags, vfs, part)) == OK && rename(part, to) == 0) state = COPIED;
    leave(outer);
    if (state == MISSING) unlink(part), *copy = 0;
    else if (is_new) state = state == NEW ? ANEW : OTHER_FILE;
    let_go(held, &now);
    return state;
}
