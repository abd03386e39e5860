/* The image of what is on the disk for certain; what it follows stands in calls.c. */
#include "shared.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct range {
    struct range *next;
    off_t from, to;
};

/* A file with writes that are not synced. */
struct file {
    struct file *next;
    struct range *dirty;
    bool whole; /* All of it is to be copied: it is new, or written through a map. */
    char path[];
};
static struct file *known;

/* A name that was taken away or changed and whose folder is not synced. */
struct change {
    struct change *next;
    char from[PATH_MAX], to[PATH_MAX]; /* to is empty for a deletion */
};
static struct change *changes;

static void in_image(const char *path, char *place) {
    snprintf(place, 2 * PATH_MAX, "%s%s", image, path + files_length);
}

static struct file *file_of(const char *path) {
    for (struct file *it = known; it; it = it->next)
        if (strcmp(it->path, path) == 0) return it;
    struct file *made = calloc(1, sizeof *made + strlen(path) + 1);
    if (!made) abort();
    strcpy(made->path, path);
    made->next = known;
    return known = made;
}

static void forget(struct file *file) {
    while (file->dirty) {
        struct range *first = file->dirty;
        file->dirty = first->next;
        free(first);
    }
}

void touched(const char *path, off_t from, off_t to) {
    if (!*image || from >= to) return;
    pthread_mutex_lock(&lock);
    struct file *file = file_of(path);
    struct range *last = file->dirty;
    if (last && from <= last->to && to >= last->from) {
        if (from < last->from) last->from = from;
        if (to > last->to) last->to = to;
    } else {
        struct range *made = malloc(sizeof *made);
        if (!made) abort();
        *made = (struct range){file->dirty, from, to};
        file->dirty = made;
    }
    pthread_mutex_unlock(&lock);
}

static void copy_range(int from, int to, off_t at, off_t end) {
    char buffer[1 << 16];
    while (at < end) {
        size_t want = (size_t)(end - at) < sizeof buffer ? (size_t)(end - at) : sizeof buffer;
        ssize_t got = syscall(SYS_pread64, from, buffer, want, at);
        if (got <= 0) return; /* past its end */
        if (syscall(SYS_pwrite64, to, buffer, got, at) != got) abort();
        at += got;
    }
}

static void copy_whole(int from, int to, off_t size) {
    syscall(SYS_ftruncate, to, 0);
    for (off_t at = 0; at < size;) {
        off_t data = syscall(SYS_lseek, from, at, SEEK_DATA);
        if (data < 0) return; /* nothing but a hole */
        off_t hole = syscall(SYS_lseek, from, data, SEEK_HOLE);
        copy_range(from, to, data, hole);
        at = hole;
    }
}

static void make_folders(char *place) {
    for (char *slash = place + strlen(image) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        syscall(SYS_mkdirat, AT_FDCWD, place, 0777);
        *slash = '/';
    }
}

/* Makes changes of names last: those in one folder, or the one that gave a file its name. */
static void names_last(const char *folder, const char *file) {
    for (struct change **it = &changes; *it;) {
        struct change *change = *it;
        const char *name = *change->to ? change->to : change->from;
        const char *slash = strrchr(name, '/');
        bool is_there = folder && slash && (size_t)(slash - name) == strlen(folder) && !strncmp(name, folder, strlen(folder));
        if (!is_there && !(file && *change->to && !strcmp(change->to, file))) {
            it = &change->next;
            continue;
        }
        char from[2 * PATH_MAX], to[2 * PATH_MAX];
        in_image(change->from, from);
        in_image(change->to, to);
        if (*change->to) syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
        else syscall(SYS_unlinkat, AT_FDCWD, from, 0);
        *it = change->next;
        free(change);
    }
}

/* A file that takes the place of a deleted one: the deletion is of no consequence any more. */
static void deletion_is_over(const char *path) {
    for (struct change **it = &changes; *it;) {
        struct change *change = *it;
        if (!*change->to && !strcmp(change->from, path)) {
            *it = change->next;
            free(change);
        } else it = &change->next;
    }
}

/* What was written to a file is on the disk. */
void synced(int fd, const char *path) {
    struct stat found;
    if (!*image || fstat(fd, &found) != 0) return;
    pthread_mutex_lock(&lock);
    if (S_ISDIR(found.st_mode)) {
        names_last(path, NULL);
        pthread_mutex_unlock(&lock);
        return;
    }
    names_last(NULL, path);
    struct file *file = file_of(path);
    char place[2 * PATH_MAX];
    in_image(path, place);
    long to = real_open(place, O_RDWR | O_CLOEXEC, 0);
    if (to < 0) {
        make_folders(place);
        to = real_open(place, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        file->whole = true;
    }
    /* A second opening, once closed, would end the program's POSIX locks: only where its own cannot be read. */
    int flags = fcntl(fd, F_GETFL), from = fd;
    bool other = flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (flags & O_DIRECT);
    if (other) from = (int)real_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (to < 0 || from < 0) abort(); /* An image that is not kept would show losses that are none. */
    if (file->whole) {
        fchmod((int)to, 0644); /* no longer another file's */
        copy_whole(from, (int)to, found.st_size);
        deletion_is_over(path);
    } else
        for (struct range *it = file->dirty; it; it = it->next) copy_range(from, (int)to, it->from, it->to);
    syscall(SYS_ftruncate, to, found.st_size);
    bool mapped = false;
    for (int i = 0; i < MAPS; i++)
        mapped |= maps[i].address && (maps[i].protection & PROT_WRITE) && !strcmp(maps[i].path, path);
    file->whole = mapped;
    forget(file);
    if (other) syscall(SYS_close, from);
    syscall(SYS_close, to);
    pthread_mutex_unlock(&lock);
}

/* A sync that failed: the system takes the pages for clean, and no later sync writes them. */
void dropped(const char *path) {
    if (!*image) return;
    pthread_mutex_lock(&lock);
    forget(file_of(path));
    pthread_mutex_unlock(&lock);
}

void changed(const char *from, const char *to) {
    struct change *made = calloc(1, sizeof *made), **last = &changes;
    if (!made) abort();
    strcpy(made->from, from);
    strcpy(made->to, to);
    pthread_mutex_lock(&lock);
    while (*last) last = &(*last)->next;
    *last = made;
    const char *gone = *to ? to : from;
    forget(file_of(gone));
    /* Whatever is written under that name next is another file. */
    file_of(gone)->whole = true;
    char place[2 * PATH_MAX];
    in_image(gone, place);
    /* The sticky bit: what stands under that name among the files is not what the image has. */
    syscall(SYS_fchmodat, AT_FDCWD, place, 01644);
    pthread_mutex_unlock(&lock);
}

void mapped_for_writing(const char *path) {
    if (*image) file_of(path)->whole = true;
}
