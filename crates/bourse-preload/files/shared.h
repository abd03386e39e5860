/* What the parts of the preloaded library share. */
#ifndef BOURSE_PRELOAD_H
#define BOURSE_PRELOAD_H
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum call { READ, WRITE, GROW, SYNC, ALLOCATE, CALLS };
enum effect { NONE, FAIL_ONCE, FAIL_ON, HALF, FULL, LIE, BLIND, END, FAIL_TWICE };

/* The control file; control.rs has the same layout. */
struct control {
    uint64_t magic;
    _Atomic uint64_t armed;
    _Atomic uint64_t call, nth, effect;
    _Atomic uint64_t loaded, fired, maps;
    _Atomic uint64_t count[CALLS];
    _Atomic uint64_t first, ended; /* the first process; whether all are to end */
    _Atomic uint64_t changing; /* whether allocations are counted */
    char unused[768 - 16 * 8];
    char trouble[256]; /* why the image or the recording is incomplete */
    char what[512];
};

/* Behind it in the same file stands the state of the image (image.c), which all processes share as well. */
#define STATE_AT 4096
#define STATE_BYTES ((size_t)256 << 20) /* nearly all of it a hole */

extern struct control *control;
/* The folder whose files are watched, and that of their image; empty if none is kept. */
extern char files[PATH_MAX], image[PATH_MAX];
extern size_t files_length;

long real_open(const char *path, int flags, mode_t mode);

/* Begins with the state behind the control file, which is locked meanwhile. */
void begin_image(void *state);

/* What befalls the image; each takes the lock of its state. */
void touched(const char *path, off_t from, off_t to);  /* these bytes were written */
void synced(int fd, const char *path);                 /* what was written to a file, or a folder's names, lasts */
void written_through(int fd, const char *path, off_t from, off_t to); /* these bytes alone last */
void dropped(const char *path);                        /* a sync failed */
void changed(const char *from, const char *to);        /* a name was taken away, or changed where there is a second */
void mapped_for_writing(const char *path);             /* from now on bytes may be written that nobody tells */

/*
 * The recording: operations in order, appended to a file (record.c). A record is written before its call returns, and that of
 * a sync before its call is made: so no write is recorded before a sync that did not cover it.
 */
enum operation { CREATED = 1, WRITTEN, RESIZED, SYNCED, SYNCED_FOLDER, REMOVED, RENAMED, /* 8 is an acknowledgement */ WRITTEN_THROUGH = 9 };
extern int recording;                                  /* descriptor of that file; negative without a recording */
void begin_recording(const char *name);
void recorded(enum operation operation, const char *path, uint64_t number, const struct iovec *data, int count, size_t bytes);
void cannot_be_recorded(const char *call, const char *path);

#endif
