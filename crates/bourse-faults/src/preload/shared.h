/* What the parts of the preloaded library share. */
#ifndef BOURSE_FAULTS_H
#define BOURSE_FAULTS_H
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum call { READ, WRITE, GROW, SYNC, CALLS };
enum effect { NONE, FAIL_ONCE, FAIL_ON, HALF, FULL, LIE, BLIND, END };

/* The control file; its layout stands in control.rs as well. */
struct control {
    uint64_t magic;
    _Atomic uint64_t armed;
    _Atomic uint64_t call, nth, effect;
    _Atomic uint64_t loaded, fired, maps;
    _Atomic uint64_t count[CALLS];
    char unused[1024 - 12 * 8];
    char what[512];
};

extern struct control *control;
/* The folder whose files are watched, and that of their image; empty if none is kept. */
extern char files[PATH_MAX], image[PATH_MAX];
extern size_t files_length;
extern pthread_mutex_t lock;

/* Files that are mapped into memory, while they are. */
#define MAPS 64
extern struct map {
    char *address;
    size_t length;
    int protection;
    char path[PATH_MAX];
} maps[MAPS];

long real_open(const char *path, int flags, mode_t mode);

/* What befalls the image; each takes the lock. */
void touched(const char *path, off_t from, off_t to);  /* these bytes were written */
void synced(int fd, const char *path);                 /* what was written to a file, or a folder's names, lasts */
void dropped(const char *path);                        /* a sync failed */
void changed(const char *from, const char *to);        /* a name was taken away, or changed where there is a second */
void mapped_for_writing(const char *path);             /* bytes may be written that nobody tells; under the lock */

#endif
