/*
 * The recording of file operations, from which recording.rs makes a trace.
 *
 * Each record is one write to a file that is open for appending, so that threads and processes need no lock. It is a head,
 * the path from the watched folder on, and data: the bytes written, or the new path.
 */
#include "shared.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int recording = -1;

struct head {
    uint32_t operation, path_bytes;
    uint64_t number; /* position of a write, size of a file */
    uint64_t data_bytes;
};

/* Parts of one write beyond which it is not recorded. */
#define PARTS 256

void begin_recording(const char *name) { recording = (int)real_open(name, O_WRONLY | O_APPEND | O_CLOEXEC, 0); }

void cannot_be_recorded(const char *call, const char *path) {
    if (recording >= 0) snprintf(control->trouble, sizeof control->trouble, "%s of %s is not recorded", call, path);
}

void recorded(enum operation operation, const char *path, uint64_t number, const struct iovec *data, int count, size_t bytes) {
    if (recording < 0) return;
    if (count > PARTS) return cannot_be_recorded("a write in many parts", path);
    int kept = errno;
    path += files_length;
    struct head head = {operation, (uint32_t)strlen(path), number, bytes};
    struct iovec all[PARTS + 2] = {{&head, sizeof head}, {(void *)path, head.path_bytes}};
    size_t left = bytes;
    int parts = 2;
    for (int i = 0; i < count && left; i++, parts++) {
        all[parts] = data[i];
        if (all[parts].iov_len > left) all[parts].iov_len = left;
        left -= all[parts].iov_len;
    }
    if (syscall(SYS_writev, recording, all, parts) != (long)(sizeof head + head.path_bytes + bytes))
        snprintf(control->trouble, sizeof control->trouble, "the recording cannot be written: %s", strerror(errno));
    errno = kept;
}
