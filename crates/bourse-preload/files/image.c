/*
 * The image of what is on the disk for certain, by the rules in calls.c.
 *
 * A server may be many processes, one of which syncs what another has written. So what was written and not synced stands in
 * memory that all of them share, behind the control file, under one lock. A process may end at any moment. While it holds
 * the lock, signals wait. A SIGKILL does not wait: then the next one gets the lock (it is robust), and finds at worst a node
 * that is lost to all, since whatever leads to a node is written last.
 */
#include "shared.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A place in the state, from its beginning, since each process may have it at another address; 0 is none. */
typedef uint64_t place;

/* Bytes of a file that were written and not synced, or a change of names whose folder is not synced. */
struct node {
    place next;
    uint64_t from, to; /* bytes; or files, where `to` is 0 for a deletion */
};

/* A file that was written, or that changed its name. */
struct file {
    place next;
    place dirty;      /* nodes */
    bool whole;       /* All of it is to be copied: it is new, or written through a map. */
    bool mapped;      /* It is, or was once, mapped for writing. */
    char path[];      /* from the watched folder on: "/x" */
};

static struct state {
    pthread_mutex_t lock;
    bool is_made;
    place files, changes, spare;
    uint64_t used;
} *state;

void begin_image(void *at) {
    state = at;
    if (state->is_made) return;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&state->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    state->used = (sizeof *state + 7) / 8 * 8;
    state->is_made = true;
}

/* Takes the lock; no handler runs meanwhile that could want it too, or end the process. */
static sigset_t take(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_mutex_lock(&state->lock) == EOWNERDEAD) pthread_mutex_consistent(&state->lock);
    return before;
}

static void give(sigset_t before) {
    pthread_mutex_unlock(&state->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* An image that is not kept would show losses that are none: the trial is told and ends. */
static void give_up(const char *why, const char *path) {
    snprintf(control->trouble, sizeof control->trouble, "%s: %s", why, path);
    abort();
}

static void *at(place it) { return (char *)state + it; }
static struct node *node_at(place it) { return at(it); }
static struct file *file_at(place it) { return at(it); }

static place new_bytes(size_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (state->used + bytes > STATE_BYTES) give_up("there are too many writes without a sync", "no room for more");
    place made = state->used;
    state->used += bytes;
    return made;
}

static place new_node(place next, uint64_t from, uint64_t to) {
    place made = state->spare;
    if (made) state->spare = node_at(made)->next;
    else made = new_bytes(sizeof(struct node));
    *node_at(made) = (struct node){next, from, to};
    /* It is complete before anything leads to it. */
    atomic_signal_fence(memory_order_seq_cst);
    return made;
}

/* Takes a node out; `next` is what leads to it. */
static void remove_node(place *next) {
    place gone = *next;
    *next = node_at(gone)->next;
    atomic_signal_fence(memory_order_seq_cst);
    node_at(gone)->next = state->spare;
    state->spare = gone;
}

static void in_image(const char *path, char *name) { snprintf(name, 2 * PATH_MAX, "%s%s", image, path); }

static place place_of(const char *path) {
    for (place it = state->files; it; it = file_at(it)->next)
        if (strcmp(file_at(it)->path, path) == 0) return it;
    place made = new_bytes(sizeof(struct file) + strlen(path) + 1);
    *file_at(made) = (struct file){.next = state->files};
    strcpy(file_at(made)->path, path);
    atomic_signal_fence(memory_order_seq_cst);
    return state->files = made;
}

static struct file *file_of(const char *path) { return file_at(place_of(path + files_length)); }

static void forget(struct file *file) {
    while (file->dirty) remove_node(&file->dirty);
}

void touched(const char *path, off_t from, off_t to) {
    if (!*image || from >= to) return;
    sigset_t before = take();
    struct file *file = file_of(path);
    struct node *last = file->dirty ? node_at(file->dirty) : NULL;
    if (last && (uint64_t)from <= last->to && (uint64_t)to >= last->from) {
        if ((uint64_t)from < last->from) last->from = (uint64_t)from;
        if ((uint64_t)to > last->to) last->to = (uint64_t)to;
    } else file->dirty = new_node(file->dirty, (uint64_t)from, (uint64_t)to);
    give(before);
}

static void copy_range(int from, int to, off_t at, off_t end, const char *path) {
    char buffer[1 << 16];
    while (at < end) {
        size_t want = (size_t)(end - at) < sizeof buffer ? (size_t)(end - at) : sizeof buffer;
        ssize_t got = syscall(SYS_pread64, from, buffer, want, at);
        if (got <= 0) return; /* past its end */
        if (syscall(SYS_pwrite64, to, buffer, got, at) != got) give_up("the image cannot be written", path);
        at += got;
    }
}

static void copy_whole(int from, int to, off_t size, const char *path) {
    syscall(SYS_ftruncate, to, 0);
    for (off_t at = 0; at < size;) {
        off_t data = syscall(SYS_lseek, from, at, SEEK_DATA);
        if (data < 0) return; /* nothing but a hole */
        off_t hole = syscall(SYS_lseek, from, data, SEEK_HOLE);
        copy_range(from, to, data, hole, path);
        at = hole;
    }
}

static void make_folders(char *name) {
    for (char *slash = name + strlen(image) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        syscall(SYS_mkdirat, AT_FDCWD, name, 0777);
        *slash = '/';
    }
}

/* Whether a name stands in that folder. */
static bool stands_in(const char *name, const char *folder) {
    const char *slash = strrchr(name, '/');
    return slash && (size_t)(slash - name) == strlen(folder) && !strncmp(name, folder, strlen(folder));
}

/*
 * Makes changes of names last: those in one folder; or the one that gave a file its name, and the one that took that name
 * from the file before it.
 */
static void names_last(const char *folder, place file) {
    for (place *next = &state->changes; *next;) {
        struct node *change = node_at(*next);
        bool renames = change->to;
        const char *name = file_at(renames ? change->to : change->from)->path;
        bool is_there = folder && stands_in(name, folder);
        if (!is_there && !(file && renames && (change->to == file || change->from == file))) {
            next = &change->next;
            continue;
        }
        char from[2 * PATH_MAX], to[2 * PATH_MAX];
        in_image(file_at(change->from)->path, from);
        if (renames) {
            in_image(name, to);
            syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
        } else syscall(SYS_unlinkat, AT_FDCWD, from, 0);
        remove_node(next);
    }
}

/* A file that takes the place of a deleted one: the deletion is of no consequence any more. */
static void deletion_is_over(place file) {
    for (place *next = &state->changes; *next;) {
        struct node *change = node_at(*next);
        if (!change->to && change->from == file) remove_node(next);
        else next = &change->next;
    }
}

/* What was written to a file, or these bytes of it, is on the disk. */
static void file_lasts(int fd, const char *path, off_t size, const struct node *part) {
    place where = place_of(path + files_length);
    struct file *file = file_at(where);
    names_last(NULL, where);
    char name[2 * PATH_MAX];
    in_image(file->path, name);
    long to = real_open(name, O_RDWR | O_CLOEXEC, 0);
    if (to < 0) {
        make_folders(name);
        to = real_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        file->whole = true;
    }
    if (to < 0) give_up("the image cannot be written", path);
    /* A second opening, once closed, would end the program's POSIX locks: only where its own cannot be read. */
    int flags = fcntl(fd, F_GETFL), from = fd;
    bool other = flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (flags & O_DIRECT);
    if (other) from = (int)real_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (from < 0) give_up("a file cannot be read for the image", path);
    if (file->whole) {
        fchmod((int)to, 0644); /* no longer another file's */
        copy_whole(from, (int)to, size, path);
        deletion_is_over(where);
    } else if (part) copy_range(from, (int)to, (off_t)part->from, (off_t)part->to, path);
    else
        for (place it = file->dirty; it; it = node_at(it)->next)
            copy_range(from, (int)to, (off_t)node_at(it)->from, (off_t)node_at(it)->to, path);
    syscall(SYS_ftruncate, to, size);
    bool is_part = part && !file->whole;
    file->whole = file->mapped;
    if (!is_part) forget(file);
    if (other) syscall(SYS_close, from);
    syscall(SYS_close, to);
}

void synced(int fd, const char *path) {
    struct stat found;
    if (!*image || fstat(fd, &found) != 0) return;
    sigset_t before = take();
    if (S_ISDIR(found.st_mode)) names_last(path + files_length, 0);
    else if (fstat(fd, &found) == 0) file_lasts(fd, path, found.st_size, NULL); /* Another process may have made it longer. */
    give(before);
}

void written_through(int fd, const char *path, off_t at, off_t end) {
    struct stat found;
    if (!*image || fstat(fd, &found) != 0) return;
    struct node part = {0, (uint64_t)at, (uint64_t)end};
    sigset_t before = take();
    file_lasts(fd, path, found.st_size, &part);
    give(before);
}

/* A sync that failed: the system takes the pages for clean, and no later sync writes them. */
void dropped(const char *path) {
    if (!*image) return;
    sigset_t before = take();
    forget(file_of(path));
    give(before);
}

/* Whatever is written under a name next is another file: so it is marked in the image, by the sticky bit. */
static void begins_anew(struct file *file) {
    char name[2 * PATH_MAX];
    forget(file);
    file->whole = true;
    file->mapped = false;
    in_image(file->path, name);
    syscall(SYS_fchmodat, AT_FDCWD, name, 01644);
}

void changed(const char *from, const char *to) {
    if (!*image) return;
    sigset_t before = take();
    place old = place_of(from + files_length), fresh = *to ? place_of(to + files_length) : 0;
    place *last = &state->changes;
    while (*last) last = &node_at(*last)->next;
    *last = new_node(0, old, fresh);
    bool mapped = file_at(old)->mapped;
    begins_anew(file_at(old));
    if (fresh) {
        begins_anew(file_at(fresh));
        file_at(fresh)->mapped = mapped;
    }
    give(before);
}

void mapped_for_writing(const char *path) {
    if (!*image) return;
    sigset_t before = take();
    struct file *file = file_of(path);
    file->whole = file->mapped = true;
    give(before);
}
