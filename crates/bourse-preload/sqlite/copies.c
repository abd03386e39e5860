/* Copies of databases, as they are before the program's first statement. */
#include "trace.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_empty(const char *path) {
    struct stat file;
    return stat(path, &file) != 0 || file.st_size == 0;
}

/* Marks a copy by its time of change, 0: that its original was seen to hold something, also if another process sees it next. */
static void mark(const char *copy, bool holds) {
    const struct timespec times[2] = {{0, UTIME_OMIT}, {0, holds ? 0 : UTIME_NOW}};
    utimensat(AT_FDCWD, copy, times, 0);
}

/* How a file began that has a copy: it is made anew if it held something, and no longer does. */
static unsigned known(const char *path, const char *to, const struct stat *copy) {
    bool holds = !is_empty(path), is_anew = copy->st_mtime == 0 && !holds;
    if (holds || is_anew) mark(to, holds);
    if (is_anew) return ANEW;
    return copy->st_size ? COPIED : NEW;
}

void seen(const struct connection *connection) {
    char to[PATH_MAX];
    if (!connection->path || is_empty(connection->path)) return;
    snprintf(to, sizeof to, "%s/%s", recorded_to, connection->copy);
    mark(to, true);
}

unsigned copied(struct library *library, const char *path, int flags, const char *vfs, char *copy, size_t size) {
    if (!path || !*path) return IN_MEMORY;
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char to[PATH_MAX], part[PATH_MAX + 8], guard[PATH_MAX + 8];
    snprintf(copy, size, "databases/%.200s-%08x", base, (uint32_t)digest(0, path, strlen(path)));
    snprintf(to, sizeof to, "%s/%s", recorded_to, copy);
    struct stat found_file;
    if (stat(to, &found_file) == 0) return known(path, to, &found_file);
    /* Other processes wait until the first one has a copy, which is of the time before all of them. */
    snprintf(guard, sizeof guard, "%s.lock", to);
    snprintf(part, sizeof part, "%s.part", to);
    int held = open(guard, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (held >= 0) flock(held, LOCK_EX);
    unsigned state = MISSING;
    sqlite3 *source = NULL, *target = NULL;
    struct library *before = enter(library);
    if (stat(to, &found_file) == 0) state = known(path, to, &found_file);
    else if (is_empty(path)) {
        int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) close(fd), state = NEW;
    } else if (library->open_v2(path, &source, flags & OPEN_READONLY ? OPEN_READONLY : OPEN_READWRITE, vfs) == OK &&
               library->open_v2(part, &target, OPEN_READWRITE | OPEN_CREATE, NULL) == OK) {
        library->db_config(source, 1006, 1, NULL); /* no checkpoint when it is closed: the original stays as it is */
        sqlite3_backup *backup = library->backup_init(target, "main", source, "main");
        int code = 0;
        for (int try = 0; backup && try < 1000 && (code = library->backup_step(backup, -1)) != DONE; try++) {
            if ((code & 0xFF) != 5 && (code & 0xFF) != 6) break;
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        }
        if (backup && library->backup_finish(backup) == OK && code == DONE) state = COPIED;
    }
    if (source) library->close(source);
    if (target) library->close(target);
    leave(before);
    if (state == COPIED && stat(to, &found_file) != 0) {
        mark(part, true);
        if (rename(part, to) != 0) state = MISSING;
    }
    if (state == MISSING) unlink(part), *copy = 0;
    if (held >= 0) unlink(guard), close(held);
    return state;
}
