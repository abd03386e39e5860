/*
 * The trace of a process: its file, and the connections and statements that it is about. Its format is
 * described, and read, by the crate bourse-trace.
 *
 * The file is written through memory that is mapped from it, so that a killed process loses nothing that was recorded, and
 * recording needs no call of the system. A record's first byte, which is not 0, is written last. Space is allocated before
 * it is written to: a full disk ends the recording, not the program.
 */
#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

__thread int depth __attribute__((tls_model("initial-exec")));
__thread struct library *within __attribute__((tls_model("initial-exec")));

char recorded_to[PATH_MAX - 600];
static uint32_t mode; /* of the trace's head */
static enum { OFF, READY, WRITING, STOPPED } state;
static unsigned process = 1; /* forks before this process, which all that was recorded before is not of */

/* ---- the lock ---- */

extern char __libc_single_threaded __attribute__((weak)); /* glibc before 2.32 has none */
static inline bool is_single_threaded(void) { return &__libc_single_threaded && __libc_single_threaded; }

static atomic_uint held; /* read by a signal's handler too */

static bool try_lock(void) { return !atomic_exchange_explicit(&held, 1, memory_order_acquire); }
static __attribute__((noinline)) void wait_for_lock(void) {
    for (unsigned try = 0; !try_lock(); try++) {
        if (try < 100) sched_yield();
        else nanosleep(&(struct timespec){0, 50000}, NULL); /* the holder may have a lower priority */
    }
}
/* Held for some hundred instructions, and to extend the file. A thread that is alone needs no atomic exchange. */
static inline void lock(void) {
    if (is_single_threaded()) atomic_store_explicit(&held, 1, memory_order_relaxed);
    else if (!try_lock()) wait_for_lock();
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void unlock(void) { atomic_store_explicit(&held, 0, memory_order_release); }

/* ---- the file ---- */

#define CHUNK ((size_t)1 << 20)
#define SPARE 512 /* bytes that stay for a last note */
static int file = -1;
static char file_name[PATH_MAX];
static struct stat created; /* the file's device and number */
static pid_t writer; /* the process that the file is of: one that vfork made has the same memory */
static uint8_t *window;
static size_t window_at, window_size, at; /* positions in the file */
static uint8_t *body;                     /* the record that is being made, in its place in the window */
static size_t used;
static uint64_t began_at, last;
static uint64_t connections;

static uint64_t read_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool counts_ticks; /* whether the system's own clock counts the processor's ticks */

#ifdef __x86_64__
enum { WINDOW = 1 << 21, LONGEST = 1 << 29, APART = 1 << 9 };
static __thread struct {
    uint64_t ticks, time, rate; /* rate: nanoseconds in 2^32 ticks; 0: not known */
} counted __attribute__((tls_model("initial-exec")));

/* Reads the clock, so many ticks after the last reading. */
static __attribute__((noinline)) uint64_t read_again(uint64_t past) {
    uint64_t read = read_clock(), after = __builtin_ia32_rdtsc();
    if (after - (counted.ticks + past) > APART) {
        /* Mostly the clock's code was not in the cache. */
        past = __builtin_ia32_rdtsc() - counted.ticks;
        read = read_clock(), after = __builtin_ia32_rdtsc();
    }
    /* A thread that was interrupted between both knows nothing. */
    bool is_apart = after - (counted.ticks + past) > APART;
    if (past >= WINDOW || is_apart) {
        counted.rate = past >= WINDOW && past < LONGEST && !is_apart ? ((read - counted.time) << 32) / past : 0;
        counted.ticks = is_apart ? 0 : counted.ticks + past;
        counted.time = read;
    }
    return read;
}
#endif

/* The monotonic clock. Reading it is the dearest part of a short execution, so that for some 2^21 ticks after a reading the ticks
   since then are counted, at the rate of the time between the last two readings. */
static inline uint64_t now(void) {
#ifdef __x86_64__
    if (counts_ticks) {
        uint64_t past = __builtin_ia32_rdtsc() - counted.ticks;
        return past < WINDOW && counted.rate ? counted.time + (past * counted.rate >> 32) : read_again(past);
    }
#endif
    return read_clock();
}

static inline uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xC2B2AE3D27D4EB4Fu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last bytes of a text, fewer than eight, as a number whose further bytes are 0. */
static inline uint64_t last_word(const uint8_t *from, size_t length) {
    uint32_t low, high;
    if (length < 4) return from[0] | (uint64_t)from[length / 2] << 8 * (length / 2) | (uint64_t)from[length - 1] << 8 * (length - 1);
    memcpy(&low, from, 4);
    memcpy(&high, from + length - 4, 4);
    return low | (uint64_t)high << 8 * (length - 4);
}

uint64_t digest(uint64_t digest, const void *bytes, size_t length) {
    const uint8_t *from = bytes;
    digest = mix(digest, length);
    for (; length >= 8; from += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        digest = mix(digest, word);
    }
    return length ? mix(digest, last_word(from, length)) : digest;
}

/* Bytes around a record's own: its length before, its check behind. */
#define AROUND 16

static bool extend(size_t wanted);

/* Whether the window has room for so many bytes more of the record; the spare ones are for the last note. */
static inline bool has_room(size_t more) {
    size_t behind = at + used + more + AROUND, end = window_at + window_size;
    if (state == STOPPED) return behind <= end;
    return behind + SPARE <= end || extend(used + more + AROUND);
}

/* A record begins with room for its numbers, and has as much behind whatever else is put. */
#define NUMBERS 192
static inline uint8_t *number_to(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = (uint8_t)number | 0x80;
    *to++ = (uint8_t)number;
    return to;
}
static inline uint8_t *signed_to(uint8_t *to, int64_t number) {
    return number_to(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}
static inline uint8_t *bytes_to(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}
static void put_number(uint64_t number) { used = (size_t)(number_to(body + used, number) - body); }
static void put_signed(int64_t number) { used = (size_t)(signed_to(body + used, number) - body); }
static void stop(const char *why);
static inline void put_bytes(const void *bytes, size_t length) {
    if (!has_room(length + NUMBERS)) return stop("the trace cannot be extended");
    if (length) memcpy(body + used, bytes, length);
    used += length;
}
static void put_string(const char *text) {
    size_t length = text ? strlen(text) : 0;
    put_number(length);
    put_bytes(text, length);
}

static bool is_created(int fd) {
    struct stat found;
    return fd >= 0 && fstat(fd, &found) == 0 && found.st_dev == created.st_dev && found.st_ino == created.st_ino;
}

/* The file's descriptor; opened anew if the program has closed it, when its number may be that of another file. */
static int descriptor(void) {
    if (is_created(file)) return file;
    file = open(file_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 || is_created(file)) return file;
    close(file);
    errno = ESTALE;
    return file = -1;
}

/* Maps the file from the next record on, of which what is made stays, with that much space behind. Beyond the limit of a file's
   size a signal would end the program. */
static bool extend(size_t wanted) {
    size_t from = at & ~(size_t)4095, size = (at - from + wanted + SPARE + CHUNK) & ~(size_t)4095;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < from + size) {
        size = limit.rlim_cur > from ? (limit.rlim_cur - from) & ~(size_t)4095 : 0;
        if (size < at - from + wanted + SPARE) return errno = EFBIG, false;
    }
    if (descriptor() < 0 || (errno = posix_fallocate(file, (off_t)from, (off_t)size))) return false;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, (off_t)from);
    if (mapped == MAP_FAILED) return false;
    if (window) munmap(window, window_size);
    window = mapped;
    window_at = from;
    window_size = size;
    body = window + (at - window_at) + 1;
    return true;
}

/* Completes the record: one of fewer than 128 bytes is in its place. */
static inline void append(void) {
    uint8_t *to = body - 1, length = (uint8_t)used;
    if (used >= 0x80) {
        uint8_t numbers[10];
        size_t count = (size_t)(number_to(numbers, used) - numbers);
        memmove(to + count, body, used);
        memcpy(to + 1, numbers + 1, count - 1);
        length = numbers[0];
        body = to + count;
    }
    uint32_t check = (uint32_t)digest(0, body, used);
    memcpy(body + used, &check, sizeof check);
    __atomic_store_n(to, length, __ATOMIC_RELEASE);
    body += used + sizeof check;
    at = window_at + (size_t)(body - window);
    body++;
}

static unsigned thread_number(void) {
    static atomic_uint threads;
    static __thread unsigned number __attribute__((tls_model("initial-exec")));
    static __thread unsigned of __attribute__((tls_model("initial-exec")));
    if (of != process) {
        of = process;
        number = ++threads;
    }
    return number;
}

static void begin_record(uint8_t kind) {
    used = 0;
    body[used++] = kind;
}
static inline void begin_event(uint8_t kind, uint64_t time, uint64_t connection) {
    begin_record(kind);
    uint8_t *to = signed_to(body + used, (int64_t)(time - last));
    last = time;
    to = number_to(to, connection);
    used = (size_t)(number_to(to, thread_number()) - body);
}

/* Ends the recording for a reason; a record that is being made is none. */
static void stop(const char *why) {
    char text[200];
    snprintf(text, sizeof text, "%s: %s; nothing is recorded from here on", why, strerror(errno));
    bool is_open = state == WRITING;
    int code = errno;
    state = STOPPED;
    if (!is_open) return;
    memset(window + (at - window_at), 0, window_at + window_size - at);
    begin_event(6, now(), 0);
    put_number(TROUBLE);
    put_signed(code);
    put_string(text);
    append();
    used = 0;
}

static inline void end_record(void) {
    if (state != WRITING) return;
    append();
    used = 0;
    if (!has_room(2 * NUMBERS)) stop("the trace cannot be extended");
}

/* Begins the file, unless it is there; false if nothing is recorded. */
static bool is_writing(void) {
    if (state != READY) return state == WRITING;
    for (int number = 1; file < 0 && number < 1000; number++) {
        snprintf(file_name, sizeof file_name, "%s/%d-%d.trace", recorded_to, (int)getpid(), number);
        file = open(file_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST) break;
    }
    at = 0;
    if (file < 0 || fstat(file, &created) != 0 || !extend(2 * NUMBERS)) {
        stop("no trace can be written");
        return false;
    }
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    began_at = last = now();
    uint32_t words[4] = {1, (uint32_t)getpid(), (uint32_t)getppid(), mode};
    uint64_t longs[2] = {(uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec, began_at};
    memcpy(window, "BOURSETR", 8);
    memcpy(window + 8, words, sizeof words);
    memcpy(window + 24, longs, sizeof longs);
    uint32_t check = (uint32_t)digest(0, window, 40);
    memcpy(window + 40, &check, sizeof check);
    at = 44;
    body = window + at + 1;
    writer = getpid();
    state = WRITING;
    return true;
}

/* ---- texts, by their digests ---- */

static struct text {
    uint64_t digest, number;
} *texts;
static size_t text_count, text_room;

static struct text *place_of(uint64_t digest) {
    size_t at = digest & (text_room - 1);
    while (texts[at].digest && texts[at].digest != digest) at = (at + 1) & (text_room - 1);
    return texts + at;
}

/* The number of a text, which is recorded if it is new. */
static uint64_t text_number(const char *sql, size_t length, bool read_only) {
    if (text_count * 2 >= text_room) {
        struct text *old = texts;
        size_t count = text_room;
        struct text *larger = calloc(count ? count * 2 : 1024, sizeof *larger);
        if (!larger) return stop("no memory for the texts of statements"), 0;
        texts = larger;
        text_room = count ? count * 2 : 1024;
        for (size_t i = 0; i < count; i++)
            if (old[i].digest) *place_of(old[i].digest) = old[i];
        free(old);
    }
    uint64_t number = digest(read_only, sql, length) | 1;
    struct text *found = place_of(number);
    if (!found->digest) {
        *found = (struct text){number, text_count++};
        begin_record(1);
        put_number(read_only);
        put_number(length);
        put_bytes(sql, length);
        end_record();
    }
    return found->number;
}

/* ---- connections and statements, by their addresses ---- */

#define BUCKETS 8192
static struct entry *connection_buckets[BUCKETS], *statement_buckets[BUCKETS];
atomic_uint removed = 1;
__thread struct remembered remembered __attribute__((tls_model("initial-exec")));

static struct entry **bucket_of(struct entry **buckets, const void *key) {
    return buckets + (mix((uintptr_t)key, 0) & (BUCKETS - 1));
}
static void *found(struct entry **buckets, const void *key) {
    struct entry *entry = *bucket_of(buckets, key);
    while (entry && entry->key != key) entry = entry->next;
    return entry;
}
static void insert(struct entry **buckets, struct entry *entry) {
    struct entry **bucket = bucket_of(buckets, entry->key);
    entry->next = *bucket;
    *bucket = entry;
}
static void take_out(struct entry **buckets, struct entry *entry) {
    struct entry **at = bucket_of(buckets, entry->key);
    while (*at && *at != entry) at = &(*at)->next;
    if (*at) *at = entry->next;
    removed++;
}

struct connection *connection_of(const void *db) {
    if (state == OFF) return NULL;
    lock();
    struct connection *connection = found(connection_buckets, db);
    unlock();
    return connection;
}

struct statement *find_statement(const void *stmt) {
    if (state == OFF || !stmt) return NULL;
    lock();
    struct statement *statement = found(statement_buckets, stmt);
    if (statement) remembered = (struct remembered){stmt, statement, removed};
    unlock();
    return statement;
}

bool is_recording(void) { return state == READY || state == WRITING; }

/* ---- what is recorded ---- */

static void record_opened(struct connection *connection, const char *name, unsigned base) {
    sqlite3 *db = (sqlite3 *)connection->entry.key;
    connection->number = ++connections;
    connection->process = process;
    const char *path = connection->library->db_filename(db, "main");
    begin_event(2, now(), connection->number);
    put_number(connection->flags);
    put_number(base);
    put_string(name ? name : path);
    put_string(path);
    put_string(connection->vfs);
    put_string(connection->library->libversion());
    put_string(connection->copy);
    end_record();
}

/* Whether the connection can be recorded in this process's trace. */
static inline bool is_known(struct connection *connection) {
    if (state != WRITING && !is_writing()) return false;
    if (connection && connection->process != process) record_opened(connection, NULL, INHERITED);
    return state == WRITING;
}

#define NOT_COPIED(CODE) \
    (((CODE) & 0xFF) == BUSY ? "a database could not be copied, since others had it locked for a second" : "a database could not be copied")

struct connection *opened(struct library *library, sqlite3 *db, const char *name, int flags, const char *vfs) {
    if (!is_recording()) return NULL;
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    *connection = (struct connection){.entry = {db, NULL}, .library = library, .flags = (uint64_t)flags, .users = 1};
    connection->vfs = vfs ? strdup(vfs) : NULL;
    connection->autocommit = library->get_autocommit(db);
    const char *path = library->db_filename(db, "main");
    int code = OK;
    connection->base = copied(library, db, "main", flags, vfs, connection->copy, sizeof connection->copy, &code);
    connection->path = path && *path && connection->base != MISSING ? strdup(path) : NULL;
    lock();
    insert(connection_buckets, &connection->entry);
    if (is_writing()) record_opened(connection, name, connection->base);
    unlock();
    if (connection->base == MISSING) noted(connection, TROUBLE, 0, NOT_COPIED(code));
    return connection;
}

static void released(struct connection *connection) {
    if (--connection->users) return;
    free((void *)connection->vfs);
    free((void *)connection->path);
    free(connection);
}

void closed(struct connection *connection) {
    if (is_recording()) left(connection);
    lock();
    take_out(connection_buckets, &connection->entry);
    if (is_known(connection)) {
        begin_event(3, now(), connection->number);
        end_record();
    }
    released(connection);
    unlock();
}

void noted(struct connection *connection, enum note note, int64_t number, const char *name) {
    if (!is_recording()) return;
    /* The call may have executed statements. */
    if (connection) connection->autocommit = connection->library->get_autocommit((sqlite3 *)connection->entry.key);
    lock();
    if (is_known(connection)) {
        begin_event(6, now(), connection ? connection->number : 0);
        put_number(note);
        put_signed(number);
        put_string(name);
        end_record();
    }
    unlock();
}

static void name_text(struct statement *statement, sqlite3_stmt *stmt) {
    struct library *library = statement->connection->library;
    const char *sql = library->sql(stmt);
    statement->process = process;
    statement->text = text_number(sql ? sql : "", sql ? strlen(sql) : 0, library->stmt_readonly(stmt));
}

/* Whether a statement begins with that word, in small letters, behind spaces and comments. */
static bool begins_with(const char *sql, const char *word) {
    while (sql && *sql) {
        if (strchr(" \t\n\r\f;", *sql)) sql++;
        else if (sql[0] == '-' && sql[1] == '-') sql = strchr(sql, '\n');
        else if (sql[0] == '/' && sql[1] == '*') sql = strstr(sql + 2, "*/") ? strstr(sql + 2, "*/") + 2 : NULL;
        else return strncasecmp(sql, word, strlen(word)) == 0;
    }
    return false;
}

struct statement *prepared(struct connection *connection, sqlite3_stmt *stmt) {
    if (!is_recording()) return NULL;
    struct library *library = connection->library;
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement) return NULL;
    statement->entry.key = stmt;
    statement->connection = connection;
    statement->db = (sqlite3 *)connection->entry.key;
    const char *sql = library->sql(stmt);
    statement->attaches = begins_with(sql, "attach");
    connection->calls_without_rows |= begins_with(sql, "pragma") && strcasestr(sql, "empty_result_callbacks");
    /* An extension may see no error, which may end the transaction. */
    statement->reads = !(mode & BY_EXTENSION) && (begins_with(sql, "select") || begins_with(sql, "with")) && library->stmt_readonly(stmt);
    int values = library->bind_parameter_count(stmt);
    statement->value = values > 0 ? calloc((size_t)values, sizeof *statement->value) : NULL;
    statement->values = statement->value ? (unsigned)values : 0;
    lock();
    if (is_writing()) name_text(statement, stmt);
    connection->users++;
    insert(statement_buckets, &statement->entry);
    unlock();
    return statement;
}

void refused(struct connection *connection, const char *sql, size_t length) {
    if (!is_recording()) return;
    sqlite3 *db = (sqlite3 *)connection->entry.key;
    int code = connection->library->extended_errcode(db);
    /* Waits for the connection's mutex, whose holder may wait for the lock. */
    char *message = strdup(connection->library->errmsg(db));
    lock();
    if (is_known(connection)) {
        uint64_t text = text_number(sql, length, false);
        begin_event(5, now(), connection->number);
        put_number(text);
        put_number((unsigned)code);
        put_string(message);
        end_record();
    }
    unlock();
    free(message);
}

void finalized(struct statement *statement) {
    lock();
    take_out(statement_buckets, &statement->entry);
    released(statement->connection);
    unlock();
    for (unsigned i = 0; i < statement->values; i++) free(statement->value[i].bytes);
    free(statement->value);
    free(statement->kept.bytes);
    free(statement);
}

static inline void began(struct statement *statement) {
    struct connection *connection = statement->connection;
    struct library *library = connection->library;
    statement->running = true;
    statement->rows = 0;
    statement->autocommit = statement->reads ? connection->autocommit : library->get_autocommit(statement->db);
    statement->changes = statement->reads ? 0 : library->total_changes(statement->db);
    statement->begun = now();
}

/*
 * The first column's value. In each version of SQLite the values of a row are an array in its memory, to which the statement has a
 * pointer. The first row shows how far apart they are, and at which of the statement's first words the pointer is, so that later ones
 * need no call with its lock; 0 if they are no array, or not exactly one word is the pointer. A statement that SQLite prepared anew
 * after a change of the schema may have other columns: their first row shows it again.
 */
static inline uintptr_t first_value(struct statement *statement, sqlite3_stmt *stmt, int columns) {
    enum { WORDS = 26 };
    uintptr_t words[WORDS], first;
    bool is_known = statement->columns == columns;
    if (statement->row_at && is_known) {
        memcpy(&first, (const char *)stmt + statement->row_at, sizeof first);
        return first;
    }
    struct library *library = statement->connection->library;
    first = (uintptr_t)library->column_value(stmt, 0);
    if (!is_known) {
        uintptr_t distance = columns > 1 ? (uintptr_t)library->column_value(stmt, 1) - first : sizeof first;
        for (int i = 2; i < columns; i++)
            if ((uintptr_t)library->column_value(stmt, i) != first + (uintptr_t)i * distance) distance = 0;
        statement->distance = distance;
        statement->columns = columns;
        statement->row_at = 0;
        int found = 0;
        memcpy(words, stmt, sizeof words);
        for (unsigned i = 1; i < WORDS; i++)
            if (words[i] == first && ++found) statement->row_at = distance ? i * sizeof first : 0;
        if (found != 1) statement->row_at = 0;
    }
    return first;
}

static void gave_row(struct statement *statement) {
    struct library *library = statement->connection->library;
    sqlite3_stmt *stmt = (sqlite3_stmt *)statement->entry.key;
    /* Values are read unprotected: no other thread may use the connection meanwhile. */
    sqlite3_mutex *mutex = is_single_threaded() ? NULL : library->db_mutex(statement->db);
    if (mutex) library->mutex_enter(mutex);
    int columns = library->data_count(stmt);
    uint64_t row = (uint64_t)columns;
    uintptr_t first = columns ? first_value(statement, stmt, columns) : 0, distance = statement->distance;
    for (int i = 0; i < columns; i++) {
        sqlite3_value *value = (sqlite3_value *)(first + (uintptr_t)i * distance);
        if (i && !distance) value = library->column_value(stmt, i);
        switch (library->value_type(value)) {
        case INTEGER: row = mix(row + INT_VALUE, (uint64_t)library->value_int64(value)); break;
        case FLOAT: {
            double real = library->value_double(value);
            uint64_t word;
            memcpy(&word, &real, 8);
            row = mix(row + REAL_VALUE, word);
            break;
        }
        case TEXT: {
            /* In a database of UTF-16 reading a text converts it, which the program could see: a copy is converted. */
            sqlite3_value *copy = statement->is_utf8 || !library->value_dup ? NULL : library->value_dup(value);
            const void *unconverted = copy ? library->value_blob(copy) : NULL;
            const void *text = library->value_text(copy ? copy : value);
            row = digest(row + TEXT_VALUE, text, text ? (size_t)library->value_bytes(copy ? copy : value) : 0);
            if (copy) statement->is_utf8 = text && text == unconverted, library->value_free(copy);
            break;
        }
        case BLOB: {
            const void *blob = library->value_blob(value);
            row = digest(row + BLOB_VALUE, blob, blob ? (size_t)library->value_bytes(value) : 0);
            break;
        }
        default: row = mix(row, 0);
        }
    }
    if (mutex) library->mutex_leave(mutex);
    statement->ordered = statement->rows ? mix(statement->ordered, row) : row;
    statement->unordered = statement->rows ? statement->unordered + row : row;
    statement->rows++;
}

/* Copies the databases that are attached by now. */
static void attached(struct connection *connection) {
    struct library *library = connection->library;
    sqlite3 *db = (sqlite3 *)connection->entry.key;
    if (!library->db_name) return noted(connection, TROUBLE, 0, "SQLite is older than 3.39: an attached database is not copied");
    const char *name;
    for (int i = 2; (name = library->db_name(db, i)); i++) {
        const char *path = library->db_filename(db, name);
        if (!path || !*path) continue;
        char copy[320] = "", both[PATH_MAX + 400];
        int code = OK;
        if (copied(library, db, name, (int)connection->flags, NULL, copy, sizeof copy, &code) == MISSING)
            noted(connection, TROUBLE, 0, NOT_COPIED(code));
        snprintf(both, sizeof both, "%s\t%s", path, copy);
        noted(connection, ATTACHED, 0, both);
    }
}

static void ended(struct statement *statement, int code, bool complete) {
    struct connection *connection = statement->connection;
    struct library *library = connection->library;
    statement->running = statement->failed = false;
    if (!is_recording()) return;
    uint64_t time = now();
    int changes = 0;
    /* A query that fails may have ended the transaction. */
    if (!statement->reads || code != OK) connection->autocommit = library->get_autocommit(statement->db);
    if (!statement->reads) changes = (int)((unsigned)library->total_changes(statement->db) - (unsigned)statement->changes);
    uint64_t bits = (statement->autocommit ? BEFORE : 0) | (connection->autocommit ? AFTER : 0) |
                    (statement->used ? 0 : FIRST) | (complete ? COMPLETE : 0);
    statement->used = true;
    lock();
    if (is_known(connection)) {
        if (statement->process != process) name_text(statement, (sqlite3_stmt *)statement->entry.key);
        begin_event(4, time, connection->number);
        /* A local position stays in a register: bytes that are written through the others may be any variable's. */
        uint8_t *to = body + used;
        to = number_to(to, statement->text);
        to = number_to(to, bits);
        to = number_to(to, time > statement->begun ? time - statement->begun : 0);
        to = number_to(to, (unsigned)code);
        to = number_to(to, statement->rows);
        if (statement->rows > 0) to = bytes_to(to, &statement->ordered, 8);
        if (statement->rows > 1) to = bytes_to(to, &statement->unordered, 8);
        to = number_to(to, changes > 0 ? (unsigned)changes : 0);
        to = number_to(to, statement->values);
        for (unsigned i = 0; i < statement->values; i++) {
            struct value *value = statement->value + i;
            /* Some values without bytes fit beside the other numbers. */
            if (has_bytes(value->type) || i % 8 == 7) {
                used = (size_t)(to - body);
                if (!has_room((has_bytes(value->type) ? value->length : 0) + NUMBERS)) {
                    stop("the trace cannot be extended");
                    break;
                }
                to = body + used;
            }
            *to++ = value->type;
            switch (value->type) {
            case INT_VALUE: to = signed_to(to, value->number); break;
            case REAL_VALUE: to = bytes_to(to, &value->real, 8); break;
            case TEXT_VALUE:
            case BLOB_VALUE:
            case POINTER_VALUE:
                to = number_to(to, value->length);
                if (value->length) to = bytes_to(to, value->bytes, value->length);
                break;
            case ZEROS_VALUE: to = number_to(to, value->length); break;
            }
        }
        used = (size_t)(to - body);
        end_record();
    }
    unlock();
    if (statement->attaches && code == OK) attached(connection);
    if (statement->clears)
        for (unsigned i = statement->clears = false; i < statement->values; i++) statement->value[i].type = NULL_VALUE;
}

static inline void store(struct statement *statement, int index, uint8_t type, uint64_t number) {
    if (index < 1 || (unsigned)index > statement->values) return;
    statement->value[index - 1].type = type;
    statement->value[index - 1].length = number;
}

static inline void keep(struct statement *statement, uint8_t type, const void *bytes, uint64_t length) {
    struct value *kept = &statement->kept;
    kept->type = type;
    kept->length = length;
    if (!has_bytes(type)) return;
    if (kept->room < length) {
        char *larger = realloc(kept->bytes, length);
        if (!larger) {
            kept->type = UNKNOWN_VALUE;
            return noted(statement->connection, TROUBLE, 0, "no memory for a bound value");
        }
        kept->bytes = larger;
        kept->room = length;
    }
    if (length) memcpy(kept->bytes, bytes, length);
}

static void keep_value(struct statement *statement, sqlite3_value *value) {
    struct library *library = statement->connection->library;
    uint64_t bits;
    switch (library->value_type(value)) {
    case INTEGER: return keep(statement, INT_VALUE, NULL, (uint64_t)library->value_int64(value));
    case FLOAT: return memcpy(&bits, &(double){library->value_double(value)}, sizeof bits), keep(statement, REAL_VALUE, NULL, bits);
    case NUL: return keep(statement, NULL_VALUE, NULL, 0);
    }
    /* Reading a text in UTF-16, or zeros, changes them. */
    sqlite3_value *copy = library->value_dup ? library->value_dup(value) : NULL;
    value = copy ? copy : value;
    bool is_text = library->value_type(value) == TEXT;
    const void *bytes = is_text ? library->value_text(value) : library->value_blob(value);
    keep(statement, is_text ? TEXT_VALUE : BLOB_VALUE, bytes, bytes ? (uint64_t)library->value_bytes(value) : 0);
    if (copy) library->value_free(copy);
}

static inline void store_kept(struct statement *statement, int index, int code) {
    if (index < 1 || (unsigned)index > statement->values || code == MISUSE) return;
    struct value *value = statement->value + index - 1, before = *value;
    *value = statement->kept;
    statement->kept = before;
    if (code != OK) value->type = NULL_VALUE; /* too long, or no memory */
}

/* ---- begin and end ---- */

static void before_fork(void) { lock(); }
static void after_fork(void) { unlock(); }

/* A forked process has a trace of its own, which begins with the first thing recorded. */
static void in_child(void) {
    unlock();
    if (window) munmap(window, window_size);
    if (is_created(file)) close(file);
    window = NULL;
    window_size = window_at = at = 0;
    file = -1;
    free(texts);
    texts = NULL;
    text_count = text_room = connections = 0;
    process++;
    if (state == WRITING) state = READY;
}

void record_to(const char *to, uint32_t as) {
    if (state != OFF || strlen(to) >= sizeof recorded_to) return;
    strcpy(recorded_to, to);
    mode = as;
    char clock[8] = "";
    int source = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (source >= 0) {
        counts_ticks = read(source, clock, sizeof clock - 1) == 4 && strcmp(clock, "tsc\n") == 0;
        close(source);
    }
    state = READY;
    pthread_atfork(before_fork, after_fork, in_child);
}

static void end_trace(void) {
    if (state == WRITING) {
        begin_event(7, now(), 0);
        end_record();
        if (descriptor() < 0 || ftruncate(file, (off_t)at) != 0) errno = 0; /* zeros behind the end are read as the end */
    }
    if (state != OFF) state = STOPPED;
}

__attribute__((destructor)) static void end(void) {
    lock();
    end_trace();
    unlock();
}

void exits(void) {
    /* A signal's handler may call this within a record of its own thread: then the trace has no end. */
    if (state != WRITING || writer != getpid() || !try_lock()) return;
    end_trace();
    unlock();
}
