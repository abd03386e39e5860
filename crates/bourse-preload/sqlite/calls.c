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
    REPLACED(MEMBER)
};

#define LIBRARIES 8
static struct original libraries[LIBRARIES];
static volatile int library_count;

PUBLIC int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);

/* SQLite's function as an open object has it; NULL if that is the one here. */
static void *function_of(void *handle, const char *name) {
    void *function = dlsym(handle, name);
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
    search->function = function_of(handle, "sqlite3_open_v2");
    dlclose(handle);
    return search->function != NULL;
}

/* The library that a caller's calls go to. */
static struct original *library_for(const void *caller) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct search search = {NULL};
    Dl_info object;
    void *handle = dladdr(caller, &object) ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle) {
        search.function = function_of(handle, "sqlite3_open_v2");
        dlclose(handle);
    }
    if (!search.function) search.function = function_of(RTLD_NEXT, "sqlite3_open_v2");
    if (!search.function) dl_iterate_phdr(look_into, &search);
    handle = search.function && dladdr(search.function, &object) ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle) handle = search.function ? dlopen(NULL, RTLD_LAZY) : NULL;
    if (!handle) {
        fprintf(stderr, "bourse: a program calls SQLite, but no library with it is loaded\n");
        abort();
    }
    pthread_mutex_lock(&lock);
    int number = 0;
    while (number < library_count && (void *)libraries[number].open_v2 != search.function) number++;
    if (number == library_count) {
        if (number == LIBRARIES) abort();
#define FIND_CALLED(AT, RESULT, NAME, PARAMETERS) *(void **)&libraries[number].called.NAME = function_of(handle, "sqlite3_" #NAME);
#define FIND(AT, RESULT, NAME, PARAMETERS) *(void **)&libraries[number].NAME = function_of(handle, "sqlite3_" #NAME);
        CALLED(FIND_CALLED)
        REPLACED(FIND)
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

/* A call of SQLite, within which SQLite's own calls are not recorded. */
#define CALL(LIBRARY, RESULT, CALLED_AS)                                                                                       \
    do {                                                                                                                       \
        struct original *to = (LIBRARY);                                                                                       \
        struct library *before = enter(&to->called);                                                                           \
        RESULT = to->CALLED_AS;                                                                                                \
        leave(before);                                                                                                         \
    } while (0)

static struct original *original_of(struct connection *connection) { return (struct original *)connection->library; }
static struct connection *connection_at(const void *db) { return depth ? NULL : connection_of(db); }
static struct statement *statement_at(const void *stmt) { return depth ? NULL : statement_of(stmt); }

/* A text in UTF-16 as UTF-8, to be freed; the bytes end it, or a zero if they are negative. */
static char *utf8(const void *text, int64_t bytes, size_t *length) {
    const uint8_t *from = text;
    size_t units = 0, used = 0;
    if (!text) return NULL;
    while (bytes < 0 ? from[2 * units] | from[2 * units + 1] : (int64_t)units < bytes / 2) units++;
    char *to = malloc(3 * units + 1);
    for (size_t i = 0; to && i < units; i++) {
        uint32_t c = (uint32_t)(from[2 * i] | from[2 * i + 1] << 8);
        if (c >> 10 == 0x36 && i + 1 < units) {
            i++;
            c = 0x10000 + ((c & 0x3FF) << 10) + ((uint32_t)(from[2 * i] | from[2 * i + 1] << 8) & 0x3FF);
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

static int did_open(struct original *library, int code, sqlite3 *db, const char *name, int flags, const char *vfs) {
    if (depth) return code;
    if (code == OK) opened(&library->called, db, name, flags, vfs);
    else noted(NULL, NOT_OPENED, code, name);
    return code;
}

PUBLIC int sqlite3_open(const char *name, sqlite3 **db) {
    struct original *library = depth ? (struct original *)within : library_for(CALLER);
    int code;
    CALL(library, code, open(name, db));
    return did_open(library, code, *db, name, OPEN_READWRITE | OPEN_CREATE, NULL);
}
PUBLIC int sqlite3_open16(const void *name, sqlite3 **db) {
    struct original *library = depth ? (struct original *)within : library_for(CALLER);
    int code;
    size_t length;
    CALL(library, code, open16(name, db));
    char *text = utf8(name, -1, &length);
    did_open(library, code, *db, text, OPEN_READWRITE | OPEN_CREATE, NULL);
    free(text);
    return code;
}
PUBLIC int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
    struct original *library = depth ? (struct original *)within : library_for(CALLER);
    int code;
    CALL(library, code, open_v2(name, db, flags, vfs));
    return did_open(library, code, *db, name, flags, vfs);
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

static void did_prepare(struct connection *connection, int code, sqlite3_stmt *stmt, const char *sql, int64_t bytes) {
    if (code == OK && stmt) prepared(connection, stmt);
    if (code != OK && sql) refused(connection, sql, bytes < 0 ? strlen(sql) : strnlen(sql, (size_t)bytes));
}
static void did_prepare16(struct connection *connection, int code, sqlite3_stmt *stmt, const void *sql, int64_t bytes) {
    size_t length = 0;
    char *text = code == OK ? NULL : utf8(sql, bytes, &length);
    did_prepare(connection, code, stmt, text, (int64_t)length);
    free(text);
}

#define PREPARE(NAME, CHARACTER, DID, PARAMETERS, ARGUMENTS)                                                                   \
    PUBLIC int sqlite3_##NAME PARAMETERS {                                                                                     \
        struct connection *connection = connection_at(db);                                                                     \
        struct original *library = connection ? original_of(connection) : library_at(CALLER);                                       \
        int code;                                                                                                              \
        CALL(library, code, NAME ARGUMENTS);                                                                                   \
        if (connection) DID(connection, code, stmt ? *stmt : NULL, sql, bytes);                                                \
        return code;                                                                                                           \
    }
#define V2(CHARACTER) (sqlite3 * db, const CHARACTER *sql, int bytes, sqlite3_stmt **stmt, const CHARACTER **tail)
#define V3(CHARACTER) (sqlite3 * db, const CHARACTER *sql, int bytes, unsigned flags, sqlite3_stmt **stmt, const CHARACTER **tail)
PREPARE(prepare, char, did_prepare, V2(char), (db, sql, bytes, stmt, tail))
PREPARE(prepare_v2, char, did_prepare, V2(char), (db, sql, bytes, stmt, tail))
PREPARE(prepare_v3, char, did_prepare, V3(char), (db, sql, bytes, flags, stmt, tail))
PREPARE(prepare16, void, did_prepare16, V2(void), (db, sql, bytes, stmt, tail))
PREPARE(prepare16_v2, void, did_prepare16, V2(void), (db, sql, bytes, stmt, tail))
PREPARE(prepare16_v3, void, did_prepare16, V3(void), (db, sql, bytes, flags, stmt, tail))

PUBLIC int sqlite3_step(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    if (!statement) return library_at(CALLER)->step(stmt);
    struct original *library = original_of(statement->connection);
    if (!statement->running) began(statement);
    int code;
    CALL(library, code, step(stmt));
    if (code == ROW) gave_row(statement);
    else ended(statement, code == DONE ? OK : library->called.extended_errcode(statement->db), code == DONE);
    return code;
}

PUBLIC int sqlite3_reset(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    int code;
    if (!stmt) return OK;
    CALL(statement ? original_of(statement->connection) : library_at(CALLER), code, reset(stmt));
    if (statement && statement->running) ended(statement, code, false);
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
        ended(statement, failed, false);
    }
    if (statement) finalized(statement);
    CALL(library, code, finalize(stmt));
    return code == OK ? failed : code;
}

/* Executes statements as SQLite's own function does, which may call the others here or not. */
PUBLIC int sqlite3_exec(sqlite3 *db, const char *sql, exec_callback callback, void *argument, char **message) {
    struct connection *connection = connection_at(db);
    if (!connection) return library_at(CALLER)->exec(db, sql, callback, argument, message);
    struct original *library = original_of(connection);
    int code = OK;
    if (message) *message = NULL;
    library->called.mutex_enter(library->called.db_mutex(db));
    for (sql = sql ? sql : ""; code == OK && *sql;) {
        sqlite3_stmt *stmt = NULL;
        char **names = NULL;
        const char *tail = "";
        code = sqlite3_prepare_v2(db, sql, -1, &stmt, &tail);
        sql = tail;
        if (code != OK || !stmt) continue;
        int columns = library->column_count(stmt);
        while ((code = sqlite3_step(stmt)) == ROW) {
            if (!callback) continue;
            if (!names && !(names = calloc(2 * (size_t)columns + 1, sizeof *names))) break;
            for (int i = 0; i < columns; i++) {
                names[i] = (char *)library->column_name(stmt, i);
                names[columns + i] = (char *)library->column_text(stmt, i);
            }
            if (callback(argument, columns, names + columns, names)) {
                code = ABORT;
                break;
            }
        }
        int finished = sqlite3_finalize(stmt);
        if (code != ABORT) code = finished;
        free(names);
    }
    if (code != OK && message)
        *message = library->mprintf("%s", code == ABORT ? library->errstr(code) : library->called.errmsg(db));
    library->called.mutex_leave(library->called.db_mutex(db));
    return code;
}

/* ---- values ---- */

/* Binds, having stored the value, which the call may free. */
#define BIND(NAME, PARAMETERS, ARGUMENTS, STORE)                                                                               \
    PUBLIC int sqlite3_bind_##NAME PARAMETERS {                                                                                \
        struct statement *s = statement_at(stmt);                                                                              \
        if (!s) return library_at(CALLER)->bind_##NAME ARGUMENTS;                                                              \
        STORE;                                                                                                                 \
        int code = original_of(s->connection)->bind_##NAME ARGUMENTS;                                                              \
        if (code != OK) store(s, index, NULL_VALUE, NULL, 0);                                                                  \
        return code;                                                                                                           \
    }

static void store_real(struct statement *s, int index, double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    /* SQLite has no NaN: it is null. */
    store(s, index, real == real ? REAL_VALUE : NULL_VALUE, NULL, bits);
}
static void store_text(struct statement *s, int index, const char *text, int64_t bytes) {
    store(s, index, text ? TEXT_VALUE : NULL_VALUE, text, !text ? 0 : bytes < 0 ? strlen(text) : (uint64_t)bytes);
}
static void store_text16(struct statement *s, int index, const void *text, int64_t bytes) {
    size_t length = 0;
    char *converted = utf8(text, bytes, &length);
    store_text(s, index, converted, (int64_t)length);
    free(converted);
}
static void store_value(struct statement *s, int index, const struct sqlite3_value *from) {
    struct original *library = original_of(s->connection);
    sqlite3_value *value = (sqlite3_value *)from;
    switch (library->called.value_type(value)) {
    case INTEGER: return store(s, index, INT_VALUE, NULL, (uint64_t)library->called.value_int64(value));
    case FLOAT: return store_real(s, index, library->called.value_double(value));
    case TEXT: {
        const char *text = (const char *)library->called.value_text(value);
        return store_text(s, index, text, library->called.value_bytes(value));
    }
    case BLOB: {
        const void *blob = library->called.value_blob(value);
        return store(s, index, BLOB_VALUE, blob, (uint64_t)library->called.value_bytes(value));
    }
    default: return store(s, index, NULL_VALUE, NULL, 0);
    }
}

BIND(null, (sqlite3_stmt * stmt, int index), (stmt, index), store(s, index, NULL_VALUE, NULL, 0))
BIND(int, (sqlite3_stmt * stmt, int index, int value), (stmt, index, value), store(s, index, INT_VALUE, NULL, (uint64_t)(int64_t)value))
BIND(int64, (sqlite3_stmt * stmt, int index, int64_t value), (stmt, index, value), store(s, index, INT_VALUE, NULL, (uint64_t)value))
BIND(double, (sqlite3_stmt * stmt, int index, double value), (stmt, index, value), store_real(s, index, value))
BIND(text, (sqlite3_stmt * stmt, int index, const char *text, int bytes, destructor done), (stmt, index, text, bytes, done),
     store_text(s, index, text, bytes))
BIND(text16, (sqlite3_stmt * stmt, int index, const void *text, int bytes, destructor done), (stmt, index, text, bytes, done),
     store_text16(s, index, text, bytes))
BIND(text64, (sqlite3_stmt * stmt, int index, const char *text, uint64_t bytes, destructor done, unsigned char encoding),
     (stmt, index, text, bytes, done, encoding),
     encoding == 1 ? store_text(s, index, text, (int64_t)bytes) : store_text16(s, index, text, (int64_t)bytes))
BIND(blob, (sqlite3_stmt * stmt, int index, const void *blob, int bytes, destructor done), (stmt, index, blob, bytes, done),
     store(s, index, blob ? BLOB_VALUE : NULL_VALUE, blob, blob && bytes > 0 ? (uint64_t)bytes : 0))
BIND(blob64, (sqlite3_stmt * stmt, int index, const void *blob, uint64_t bytes, destructor done), (stmt, index, blob, bytes, done),
     store(s, index, blob ? BLOB_VALUE : NULL_VALUE, blob, blob ? bytes : 0))
BIND(zeroblob, (sqlite3_stmt * stmt, int index, int bytes), (stmt, index, bytes), store(s, index, ZEROS_VALUE, NULL, bytes > 0 ? (uint64_t)bytes : 0))
BIND(zeroblob64, (sqlite3_stmt * stmt, int index, uint64_t bytes), (stmt, index, bytes), store(s, index, ZEROS_VALUE, NULL, bytes))
BIND(value, (sqlite3_stmt * stmt, int index, const struct sqlite3_value *value), (stmt, index, value), store_value(s, index, value))
BIND(pointer, (sqlite3_stmt * stmt, int index, void *pointer, const char *type, destructor done), (stmt, index, pointer, type, done),
     store(s, index, POINTER_VALUE, NULL, 0))

PUBLIC int sqlite3_clear_bindings(sqlite3_stmt *stmt) {
    struct statement *statement = statement_at(stmt);
    if (!statement) return library_at(CALLER)->clear_bindings(stmt);
    for (unsigned i = 0; i < statement->values; i++) store(statement, (int)i + 1, NULL_VALUE, NULL, 0);
    return original_of(statement->connection)->clear_bindings(stmt);
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

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("BOURSE_RECORD_TO");
    if (folder) record_to(folder, false);
}
