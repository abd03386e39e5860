/*
 * The library that is preloaded into a program: replaces SQLite's functions, calls the program's own, and records.
 *
 * BOURSE_RECORD_TO in the environment is the absolute path of the trace's folder.
 *
 * A program may have several copies of SQLite: in a library, in a wheel, in a module that exports SQLite's functions. A
 * connection's is the one that the caller of sqlite3_open would have got, and all calls on it go there.
 */
/* One translation unit: a call of the program costs less where the parts are compiled into it. */
#include "trace.c"
#include "copies.c"
#include "replaced.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* ---- the libraries ---- */

struct original {
    struct library called; /* what trace.c calls; the first member, so that a connection's library is one of these */
    const char *from, *to; /* addresses of the object that it is in */
    bool is_whole;         /* whether it has all that trace.c calls, but for what not every version and build of SQLite has */
    REPLACED(MEMBER)
};

#define LIBRARIES 8
static struct original libraries[LIBRARIES];
static volatile int library_count;

PUBLIC int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);

/* glibc's dlsym by its first version on a machine: the one here, which replaces it there, has none. */
#ifdef __x86_64__
#define DLSYM_VERSION "GLIBC_2.2.5"
#elif defined __aarch64__
#define DLSYM_VERSION "GLIBC_2.17"
#endif
typedef void *finder(void *, const char *);
static finder *find_original(void) {
#ifdef DLSYM_VERSION
    static finder *found;
    if (!found) *(void **)&found = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION);
    return found;
#else
    return dlsym;
#endif
}

/* SQLite's function as an open object has it; NULL if that is the one here. */
static void *function_of(void *handle, const char *name) {
    void *function = find_original()(handle, name);
    Dl_info of, here;
    if (!function || !dladdr(function, &of) || !dladdr((void *)sqlite3_open_v2, &here)) return NULL;
    return of.dli_fbase == here.dli_fbase ? NULL : function;
}

struct search {
    void *function;
};
static int look_into(struct dl_phdr_info *object, size_t size, void *to) {
    (void)size;
    struct search *search = to;
    void *handle = *object->dlpi_name ? dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle) return 0;
    /* Another recorder has no sqlite3_libversion. */
    search->function = function_of(handle, "sqlite3_libversion") ? function_of(handle, "sqlite3_open_v2") : NULL;
    dlclose(handle);
    return search->function != NULL;
}

/* The addresses of a library's object. */
static int find_range(struct dl_phdr_info *object, size_t size, void *to) {
    (void)size;
    struct original *library = to;
    const char *at = (const char *)library->open_v2, *from = NULL, *end = NULL;
    bool is_it = false;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const char *begin = (const char *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        if (!from) from = begin;
        end = begin + object->dlpi_phdr[i].p_memsz;
        is_it |= at >= begin && at < end;
    }
    if (is_it) library->from = from, library->to = end;
    return is_it;
}

/* The sqlite3_open_v2 of the library that a caller's calls go to; NULL if there is none. */
static void *open_for(const void *caller) {
    struct search search = {NULL};
    Dl_info object;
    void *handle = dladdr(caller, &object) ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle) {
        search.function = function_of(handle, "sqlite3_open_v2");
        dlclose(handle);
    }
    if (!search.function) search.function = function_of(RTLD_NEXT, "sqlite3_open_v2");
    if (!search.function) dl_iterate_phdr(look_into, &search);
    return search.function;
}

/* The library that a caller's calls go to. */
static struct original *library_for(const void *caller) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *function = open_for(caller);
    Dl_info object;
    void *handle = function && dladdr(function, &object) ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle) handle = function ? dlopen(NULL, RTLD_LAZY) : NULL;
    if (!handle) {
        fprintf(stderr, "bourse: a program calls SQLite, but no library with it is loaded\n");
        abort();
    }
    pthread_mutex_lock(&lock);
    int number = 0;
    while (number < library_count && (void *)libraries[number].open_v2 != function) number++;
    if (number == library_count) {
        if (number == LIBRARIES) abort();
#define FIND_CALLED(AT, RESULT, NAME, PARAMETERS) *(void **)&libraries[number].called.NAME = function_of(handle, "sqlite3_" #NAME);
#define FIND(AT, RESULT, NAME, PARAMETERS) *(void **)&libraries[number].NAME = function_of(handle, "sqlite3_" #NAME);
        CALLED(FIND_CALLED)
        REPLACED(FIND)
#define IS_THERE(AT, RESULT, NAME, PARAMETERS) && (AT == 131 || AT == 133 || AT >= 192 || libraries[number].called.NAME)
        libraries[number].is_whole = true CALLED(IS_THERE);
        dl_iterate_phdr(find_range, libraries + number);
        library_count++;
    }
    pthread_mutex_unlock(&lock);
    return libraries + number;
}

/* The library of a call about something that is not known. */
static __attribute__((noinline, cold)) struct original *library_at(const void *caller) {
    if (depth) return (struct original *)within;
    return library_count == 1 ? libraries : library_for(caller);
}

#ifdef DLSYM_VERSION
/* The function here for one that a program gets by a handle, if its calls go to the library that the handle is of; NULL if not. */
static __attribute__((noinline, cold)) void *function_for(void *handle, const char *name, const void *caller) {
    static void *own;
    static atomic_bool is_noted;
    Dl_info here;
    if (!own && dladdr((void *)sqlite3_open_v2, &here)) own = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *function = own && function_of(handle, name) ? find_original()(own, name) : NULL;
    if (!function || function_of(handle, "sqlite3_open_v2") == open_for(caller)) return function;
    if (!atomic_exchange(&is_noted, true)) noted(NULL, UNSEEN, 0, "functions of a second SQLite, got by dlsym");
    return NULL;
}

/* The original is jumped to: what it finds for RTLD_NEXT depends on the caller. */
PUBLIC void *dlsym(void *handle, const char *name) {
    bool may_be_here = strncmp(name, "sqlite3_", 8) == 0 && handle != RTLD_DEFAULT && handle != RTLD_NEXT && is_recording();
    void *function = may_be_here ? function_for(handle, name, CALLER) : NULL;
    return function ? function : find_original()(handle, name);
}
#endif

/* A call of SQLite, within which SQLite's own calls are not recorded. */
#define CALL(LIBRARY, RESULT, CALLED_AS)                                                                                       \
    do {                                                                                                                       \
        struct original *to = (LIBRARY);                                                                                       \
        struct library *before = enter(&to->called);                                                                           \
        RESULT = to->CALLED_AS;                                                                                                \
        leave(before);                                                                                                         \
    } while (0)

static struct original *original_of(struct connection *connection) { return (struct original *)connection->library; }
/* Whether SQLite itself calls, and not the program that SQLite has called: its functions, hooks and handlers. */
static __attribute__((noinline, cold)) bool is_of_library(const char *caller) {
    struct original *library = (struct original *)within;
    return caller >= library->from && caller < library->to;
}
#define IS_INNER (depth && is_of_library(CALLER))
#define connection_at(DB) (IS_INNER ? NULL : connection_of(DB))
#define statement_at(STMT) (IS_INNER ? NULL : statement_of(STMT))

/* A text in UTF-16 as UTF-8, to be freed; the bytes end it, or a zero if they are negative. `high` is the place of a unit's high byte. */
static char *utf8(const void *text, int64_t bytes, size_t *length, int high) {
#define UNIT(I) ((uint32_t)(from[2 * (I) + !high] | from[2 * (I) + high] << 8))
    const uint8_t *from = text;
    size_t units = 0, used = 0;
    if (!text) return NULL;
    while (bytes < 0 ? from[2 * units] | from[2 * units + 1] : (int64_t)units < bytes / 2) units++;
    char *to = malloc(3 * units + 1);
    for (size_t i = 0; to && i < units; i++) {
        uint32_t c = UNIT(i);
        if (c >> 10 == 0x36 && i + 1 < units) {
            i++;
            c = 0x10000 + ((c & 0x3FF) << 10) + (UNIT(i) & 0x3FF);
        }
        int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xC0, 0xE0, 0xF0};
        to[used++] = (char)(first[more] | c >> 6 * more);
        while (more--) to[used++] = (char)(0x80 | (c >> 6 * more & 0x3F));
    }
    if (to) to[used] = 0, *length = used;
    return to;
}

/* ---- connections ---- */

static void did_open(struct original *library, int code, sqlite3 *db, const char *name, int flags, const char *vfs) {
    if (code != OK) noted(NULL, NOT_OPENED, code, name);
    else if (library->is_whole) opened(&library->called, db, name, flags, vfs);
    else noted(NULL, UNSEEN, 0, "a connection of a library that has not all of SQLite's functions");
}

PUBLIC int sqlite3_open(const char *name, sqlite3 **db) {
    struct original *library = IS_INNER ? (struct original *)within : library_for(CALLER);
    int code;
    CALL(library, code, open(name, db));
    if (!IS_INNER) did_open(library, code, *db, name, OPEN_READWRITE | OPEN_CREATE, NULL);
    return code;
}
PUBLIC int sqlite3_open16(const void *name, sqlite3 **db) {
    struct original *library = IS_INNER ? (struct original *)within : library_for(CALLER);
    int code;
    size_t length;
    CALL(library, code, open16(name, db));
    char *text = utf8(name, -1, &length, 1);
    if (!IS_INNER) did_open(library, code, *db, text, OPEN_READWRITE | OPEN_CREATE, NULL);
    free(text);
    return code;
}
PUBLIC int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
    struct original *library = IS_INNER ? (struct original *)within : library_for(CALLER);
    int code;
    CALL(library, code, open_v2(name, db, flags, vfs));
    if (!IS_INNER) did_open(library, code, *db, name, flags, vfs);
    return code;
}

#define CLOSE(NAME)                                                                                                            \
    PUBLIC int sqlite3_##NAME(sqlite3 *db) {                                                                                   \
        struct connection *connection = connection_at(db);                                                                     \
        struct original *library = connection ? original_of(connection) : library_at(CALLER);                                       \
        int code;                                                                                                              \
        CALL(library, code, NAME(db));                                                                                         \
        if (connection && code == OK) closed(connection);                                                                      \
        return code;                                                                                                           \
    }
CLOSE(close)
CLOSE(close_v2)

/* ---- statements ---- */

static void did_prepare(struct connection *connection, int code, sqlite3_stmt *stmt, const char *sql, int64_t bytes, bool legacy) {
    struct statement *statement = code == OK && stmt ? prepared(connection, stmt) : NULL;
    if (statement) statement->legacy = legacy;
    if (code != OK && sql) refused(connection, sql, bytes < 0 ? strlen(sql) : strnlen(sql, (size_t)bytes));
}
static void did_prepare16(struct connection *connection, int code, sqlite3_stmt *stmt, const void *sql, int64_t bytes, bool legacy) {
    size_t length = 0;
    char *text = code == OK ? NULL : utf8(sql, bytes, &length, 1);
    did_prepare(connection, code, stmt, text, (int64_t)length, legacy);
    free(text);
}

#define PREPARE(NAME, LEGACY, DID, PARAMETERS, ARGUMENTS)                                                                      \
    PUBLIC int sqlite3_##NAME PARAMETERS {                                                                                     \
        struct connection *connection = connection_at(db);                                                                     \
        struct original *library = connection ? original_of(connection) : library_at(CALLER);                                       \
        int code;                                                                                                              \
        CALL(library, code, NAME ARGUMENTS);                                                                                   \
        if (connection) DID(connection, code, stmt ? *stmt : NULL, sql, bytes, LEGACY);                                        \
        return code;                                                                                                           \
    }
#define V2(CHARACTER) (sqlite3 * db, const CHARACTER *sql, int bytes, sqlite3_stmt **stmt, const CHARACTER **tail)
#define V3(CHARACTER) (sqlite3 * db, const CHARACTER *sql, int bytes, unsigned flags, sqlite3_stmt **stmt, const CHARACTER **tail)
PREPARE(prepare, true, did_prepare, V2(char), (db, sql, bytes, stmt, tail))
PREPARE(prepare_v2, false, did_prepare, V2(char), (db, sql, bytes, stmt, tail))
PREPARE(prepare_v3, false, did_prepare, V3(char), (db, sql, bytes, flags, stmt, tail))
PREPARE(prepare16, true, did_prepare16, V2(void), (db, sql, bytes, stmt, tail))
PREPARE(prepare16_v2, false, did_prepare16, V2(void), (db, sql, bytes, stmt, tail))
PREPARE(prepare16_v3, false, did_prepare16, V3(void), (db, sql, bytes, flags, stmt, tail))

PUBLIC int sqlite3_step(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    if (!statement) return library_at(CALLER)->step(stmt);
    struct original *library = original_of(statement->connection);
    if (statement->failed) ended(statement, ERROR, false);
    if (!statement->running) began(statement);
    int code;
    CALL(library, code, step(stmt));
    if (code == ROW) gave_row(statement);
    else if (code == ERROR && statement->legacy) statement->failed = true;
    else ended(statement, code == DONE ? OK : library->called.extended_errcode(statement->db), code == DONE);
    return code;
}

/* Ends an execution by the code of its reset. */
static void ended_by(struct statement *statement, int code) {
    ended(statement, code == OK ? OK : original_of(statement->connection)->called.extended_errcode(statement->db), false);
}

PUBLIC int sqlite3_reset(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    int code;
    if (!stmt) return OK;
    CALL(statement ? original_of(statement->connection) : library_at(CALLER), code, reset(stmt));
    if (statement && statement->running) ended_by(statement, code);
    return code;
}

PUBLIC int sqlite3_finalize(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    int code, failed = OK;
    if (!stmt) return OK;
    struct original *library = statement ? original_of(statement->connection) : library_at(CALLER);
    if (statement && statement->running) {
        /* A change that is complete only now may fail: by a deferred constraint. */
        CALL(library, failed, reset(stmt));
        ended_by(statement, failed);
    }
    if (statement) finalized(statement);
    CALL(library, code, finalize(stmt));
    return code == OK ? failed : code;
}

static int aborts(void *argument, int columns, char **values, char **names) {
    return (void)argument, (void)columns, (void)values, (void)names, 1;
}

/* Executes statements as SQLite's own function does, which may call the others here or not. */
PUBLIC int sqlite3_exec(sqlite3 *db, const char *sql, exec_callback callback, void *argument, char **message) {
    struct connection *connection = connection_at(db);
    if (!connection || !sql || !*sql) return library_at(CALLER)->exec(db, sql, callback, argument, message);
    struct original *library = original_of(connection);
    int code = OK;
    connection->calls_without_rows |= callback && strcasestr(sql, "empty_result_callbacks");
    if (callback && connection->calls_without_rows) {
        CALL(library, code, exec(db, sql, callback, argument, message));
        noted(connection, UNSEEN, 0, "sqlite3_exec after PRAGMA empty_result_callbacks");
        return code;
    }
    if (message) *message = NULL;
    sqlite3_mutex *mutex = library->called.db_mutex(db);
    if (mutex) library->called.mutex_enter(mutex);
    while (code == OK && *sql) {
        sqlite3_stmt *stmt = NULL;
        char **names = NULL;
        const char *tail = "";
        bool aborted = false;
        code = sqlite3_prepare_v2(db, sql, -1, &stmt, &tail);
        sql = tail;
        if (code != OK || !stmt) continue;
        int columns = library->column_count(stmt);
        while (!aborted && sqlite3_step(stmt) == ROW) {
            if (!callback) continue;
            if (!names && !(names = calloc(2 * (size_t)columns + 1, sizeof *names))) break;
            for (int i = 0; i < columns; i++) {
                names[i] = (char *)library->column_name(stmt, i);
                names[columns + i] = (char *)library->column_text(stmt, i);
            }
            aborted = callback(argument, columns, names + columns, names);
        }
        code = sqlite3_finalize(stmt);
        free(names);
        /* The connection's error is that of a callback which aborts: a statement that nothing sees makes it. */
        if (aborted) {
            CALL(library, code, exec(db, "EXPLAIN VACUUM", aborts, NULL, NULL));
            code = ABORT;
        }
    }
    if (code != OK && message)
        *message = library->mprintf("%s", code == ABORT ? library->errstr(code) : library->called.errmsg(db));
    if (mutex) library->called.mutex_leave(mutex);
    return code;
}

/* ---- values ---- */

/* Binds a value that has no bytes, by the function of SQLite that calls no other. */
#define BIND(NAME, CALLS, PARAMETERS, ARGUMENTS, TYPE, NUMBER)                                                                 \
    PUBLIC int sqlite3_bind_##NAME PARAMETERS {                                                                                \
        struct statement *s = statement_at(stmt);                                                                              \
        if (!s) return library_at(CALLER)->bind_##CALLS ARGUMENTS;                                                             \
        int code = original_of(s->connection)->bind_##CALLS ARGUMENTS;                                                         \
        if (code == OK) store(s, index, TYPE, NUMBER);                                                                         \
        return code;                                                                                                           \
    }

/* Binds, having copied the value, which the call may free. */
#define BIND_BYTES(NAME, PARAMETERS, ARGUMENTS, KEEP)                                                                          \
    PUBLIC int sqlite3_bind_##NAME PARAMETERS {                                                                                \
        struct statement *s = statement_at(stmt);                                                                              \
        if (!s) return library_at(CALLER)->bind_##NAME ARGUMENTS;                                                              \
        KEEP;                                                                                                                  \
        int code = original_of(s->connection)->bind_##NAME ARGUMENTS;                                                          \
        store_kept(s, index, code);                                                                                            \
        return code;                                                                                                           \
    }

static uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}
/* Whether SQLite refuses a text or blob of that length without reading it. */
static bool is_too_long(struct statement *s, uint64_t length) {
    return length > 1000000 && length > (uint64_t)original_of(s->connection)->limit(s->db, 0, -1);
}
static void keep_bytes(struct statement *s, uint8_t type, const void *bytes, uint64_t length) {
    keep(s, bytes && !is_too_long(s, length) ? type : NULL_VALUE, bytes, length);
}
static void keep_text(struct statement *s, const char *text, int64_t bytes) {
    keep_bytes(s, TEXT_VALUE, text, !text ? 0 : bytes < 0 ? strlen(text) : (uint64_t)bytes);
}
static void keep_text16(struct statement *s, const void *text, int64_t bytes, int high) {
    size_t length = 0;
    char *converted = bytes > 0 && is_too_long(s, (uint64_t)bytes) ? NULL : utf8(text, bytes, &length, high);
    keep_text(s, converted, (int64_t)length);
    free(converted);
}

static void keep_encoded(struct statement *s, const char *text, int64_t bytes, unsigned char encoding) {
    enum { UTF16LE = 2, UTF16BE, UTF16 };
    if (encoding < UTF16LE || encoding > UTF16) keep_text(s, text, bytes);
    else keep_text16(s, text, bytes, encoding != UTF16BE);
}

BIND(null, null, (sqlite3_stmt * stmt, int index), (stmt, index), NULL_VALUE, 0)
BIND(int, int64, (sqlite3_stmt * stmt, int index, int value), (stmt, index, value), INT_VALUE, (uint64_t)(int64_t)value)
BIND(int64, int64, (sqlite3_stmt * stmt, int index, int64_t value), (stmt, index, value), INT_VALUE, (uint64_t)value)
/* SQLite has no NaN: it is null. */
BIND(double, double, (sqlite3_stmt * stmt, int index, double value), (stmt, index, value), value == value ? REAL_VALUE : NULL_VALUE, bits_of(value))
BIND_BYTES(text, (sqlite3_stmt * stmt, int index, const char *text, int bytes, destructor done), (stmt, index, text, bytes, done),
           keep_text(s, text, bytes))
BIND_BYTES(text16, (sqlite3_stmt * stmt, int index, const void *text, int bytes, destructor done), (stmt, index, text, bytes, done),
           keep_text16(s, text, bytes, 1))
BIND_BYTES(text64, (sqlite3_stmt * stmt, int index, const char *text, uint64_t bytes, destructor done, unsigned char encoding),
           (stmt, index, text, bytes, done, encoding),
           keep_encoded(s, text, (int64_t)bytes, encoding))
BIND_BYTES(blob, (sqlite3_stmt * stmt, int index, const void *blob, int bytes, destructor done), (stmt, index, blob, bytes, done),
           keep_bytes(s, BLOB_VALUE, blob, bytes > 0 ? (uint64_t)bytes : 0))
BIND_BYTES(blob64, (sqlite3_stmt * stmt, int index, const void *blob, uint64_t bytes, destructor done), (stmt, index, blob, bytes, done),
           keep_bytes(s, BLOB_VALUE, blob, bytes))
BIND(zeroblob, zeroblob, (sqlite3_stmt * stmt, int index, int bytes), (stmt, index, bytes), ZEROS_VALUE, bytes > 0 ? (uint64_t)bytes : 0)
BIND(zeroblob64, zeroblob64, (sqlite3_stmt * stmt, int index, uint64_t bytes), (stmt, index, bytes), ZEROS_VALUE, bytes)
/* Stored after the call, since SQLite binds blobs by its function for them, which is the one here. */
PUBLIC int sqlite3_bind_value(sqlite3_stmt *stmt, int index, const struct sqlite3_value *value) {
    struct statement *statement = statement_at(stmt);
    int code = (statement ? original_of(statement->connection) : library_at(CALLER))->bind_value(stmt, index, value);
    if (statement) keep_value(statement, (sqlite3_value *)value), store_kept(statement, index, code);
    return code;
}
BIND_BYTES(pointer, (sqlite3_stmt * stmt, int index, void *pointer, const char *type, destructor done), (stmt, index, pointer, type, done),
           keep(s, POINTER_VALUE, type, type ? strlen(type) : 0))

/* Null values; of a statement that runs, which has the others, once it has ended. */
static void clear(struct statement *statement) {
    statement->clears = statement->running;
    for (unsigned i = 0; i < statement->values && !statement->running; i++) statement->value[i].type = NULL_VALUE;
}
PUBLIC int sqlite3_clear_bindings(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    if (!statement) return library_at(CALLER)->clear_bindings(stmt);
    clear(statement);
    return original_of(statement->connection)->clear_bindings(stmt);
}
PUBLIC int sqlite3_transfer_bindings(sqlite3_stmt *stmt, sqlite3_stmt *to) {
    struct statement *statement = statement_at(stmt), *other = statement_at(to);
    int code = (statement ? original_of(statement->connection) : library_at(CALLER))->transfer_bindings(stmt, to);
    if (code != OK || !statement || !other || statement == other) return code;
    for (unsigned i = 0; i < statement->values; i++) {
        keep(other, statement->value[i].type, statement->value[i].bytes, statement->value[i].length);
        store_kept(other, (int)i + 1, OK);
    }
    clear(statement);
    return code;
}

/* ---- calls that a replay has to know of ---- */

#define NOTED(FUNCTION, NOTE, NUMBER, NAME, PARAMETERS, ARGUMENTS)                                                             \
    PUBLIC int sqlite3_##FUNCTION PARAMETERS {                                                                                 \
        struct connection *connection = connection_at(db);                                                                     \
        int code;                                                                                                              \
        CALL(connection ? original_of(connection) : library_at(CALLER), code, FUNCTION ARGUMENTS);                                 \
        if (connection && code == OK) noted(connection, NOTE, NUMBER, NAME);                                                   \
        return code;                                                                                                           \
    }
NOTED(busy_timeout, BUSY_TIMEOUT, milliseconds, "", (sqlite3 * db, int milliseconds), (db, milliseconds))
NOTED(busy_handler, BUSY_HANDLER, handler != NULL, "", (sqlite3 * db, int (*handler)(void *, int), void *with), (db, handler, with))
NOTED(create_function, FUNCTION, count, name, (sqlite3 * db, const char *name, int count, int text, void *with, void *a, void *b, void *c),
      (db, name, count, text, with, a, b, c))
NOTED(create_function_v2, FUNCTION, count, name,
      (sqlite3 * db, const char *name, int count, int text, void *with, void *a, void *b, void *c, destructor done),
      (db, name, count, text, with, a, b, c, done))
NOTED(create_window_function, FUNCTION, count, name,
      (sqlite3 * db, const char *name, int count, int text, void *with, void *a, void *b, void *c, void *d, destructor done),
      (db, name, count, text, with, a, b, c, d, done))
NOTED(create_collation, COLLATION, 0, name, (sqlite3 * db, const char *name, int text, void *with, void *a), (db, name, text, with, a))
NOTED(create_collation_v2, COLLATION, 0, name, (sqlite3 * db, const char *name, int text, void *with, void *a, destructor done),
      (db, name, text, with, a, done))
NOTED(create_module, MODULE, 0, name, (sqlite3 * db, const char *name, void *a, void *with), (db, name, a, with))
NOTED(create_module_v2, MODULE, 0, name, (sqlite3 * db, const char *name, void *a, void *with, destructor done), (db, name, a, with, done))
NOTED(load_extension, EXTENSION, 0, path, (sqlite3 * db, const char *path, const char *entry, char **message), (db, path, entry, message))
NOTED(blob_open, INCREMENTAL_BLOB, writing, table,
      (sqlite3 * db, const char *of, const char *table, const char *column, int64_t row, int writing, sqlite3_blob **blob),
      (db, of, table, column, row, writing, blob))
NOTED(deserialize, DESERIALIZE, size, schema, (sqlite3 * db, const char *schema, unsigned char *bytes, int64_t size, int64_t room, unsigned flags),
      (db, schema, bytes, size, room, flags))
NOTED(get_table, UNSEEN, 0, "sqlite3_get_table", (sqlite3 * db, const char *sql, char ***table, int *rows, int *columns, char **message),
      (db, sql, table, rows, columns, message))

/* Calls that change what later statements do, or whether they are executed. */
#define HOOKED(RESULT, FUNCTION, IS_SET, NUMBER, PARAMETERS, ARGUMENTS)                                                        \
    PUBLIC RESULT sqlite3_##FUNCTION PARAMETERS {                                                                              \
        struct connection *connection = connection_at(db);                                                                     \
        struct original *library = connection ? original_of(connection) : library_at(CALLER);                                  \
        if (connection && (IS_SET)) noted(connection, HOOK, NUMBER, "sqlite3_" #FUNCTION);                                     \
        return library->FUNCTION ARGUMENTS;                                                                                    \
    }
HOOKED(int, set_authorizer, authorizer, 0, (sqlite3 * db, void *authorizer, void *with), (db, authorizer, with))
HOOKED(void *, commit_hook, hook, 0, (sqlite3 * db, void *hook, void *with), (db, hook, with))
HOOKED(void *, rollback_hook, hook, 0, (sqlite3 * db, void *hook, void *with), (db, hook, with))
HOOKED(void, progress_handler, handler && steps > 0, steps, (sqlite3 * db, int steps, void *handler, void *with), (db, steps, handler, with))
HOOKED(void, set_last_insert_rowid, true, row, (sqlite3 * db, int64_t row), (db, row))
HOOKED(int, limit, most >= 0, most, (sqlite3 * db, int what, int most), (db, what, most))

/* Whether a setting changes statements: foreign keys, triggers, and all from 1009 on but counters of loops. */
static bool changes_statements(int setting) { return setting == 1002 || setting == 1003 || (setting >= 1009 && setting != 1018); }
/* SQLite takes three arguments at most, numbers or pointers, which 64-bit machines pass as if they had been declared. */
HOOKED(int, db_config, (int)(intptr_t)a >= 0 && changes_statements(what), what, (sqlite3 * db, int what, void *a, void *b, void *c),
       (db, what, a, b, c))

PUBLIC sqlite3_backup *sqlite3_backup_init(sqlite3 *db, const char *to, sqlite3 *source, const char *from) {
    struct connection *connection = connection_at(db);
    struct original *library = connection ? original_of(connection) : library_at(CALLER);
    sqlite3_backup *backup = library->called.backup_init(db, to, source, from);
    if (connection && backup) noted(connection, BACKUP, 0, to);
    return backup;
}

/* A forked process mostly ends so, as by Python's os._exit. */
PUBLIC _Noreturn void _exit(int status) {
    exits();
    for (;;) syscall(SYS_exit_group, status);
}
PUBLIC _Noreturn void _Exit(int status) { _exit(status); }
/* The system's own ends the parent without a call of _exit that passes here. */
PUBLIC int daemon(int keeps_folder, int keeps_files) {
    pid_t child = fork();
    if (child > 0) _exit(0);
    if (child < 0 || setsid() < 0) return -1;
    if (!keeps_folder && chdir("/")) return -1;
    int null = keeps_files ? -1 : open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i < 3; i++) dup2(null, i);
    if (null > 2) close(null);
    return keeps_files || null >= 0 ? 0 : -1;
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("BOURSE_RECORD_TO");
    if (folder) record_to(folder, 0);
}
