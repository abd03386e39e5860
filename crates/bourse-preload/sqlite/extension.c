/*
 * The loadable extension: records a connection, and those opened after it in the same process, by SQLite's tracing. The trace's
 * folder is the one that the extension is in.
 *
 * Tracing tells less than replaced functions: no refused statements, no calls beside statements. Values and result codes are read in SQLite's memory.
 */
/* One translation unit: a call of the program costs less where the parts are compiled into it. */
#include "trace.c"
#include "copies.c"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
enum { STATEMENT = 1, PROFILE = 2, ROW_OF = 4, CLOSE = 8 };

static struct library library;

/* Place of the pointer to its parameters in a statement, size of a value, and place of the pointer to its bytes, in bytes; 0: not known. */
static size_t parameters_at, value_size, bytes_at;
/* Place of the result code in a statement, in bytes; 0: not known. */
static size_t code_at;

enum { WORDS = 26 }; /* the first words of a statement, which are there in each version */

static const char *pointer_at(const void *from) {
    const char *pointer;
    memcpy(&pointer, from, sizeof pointer);
    return pointer;
}
/* The same wherever that may be: the system refuses to read where no memory is. */
static const char *pointer_if_any(const int pipe[2], const char *from) {
    const char *pointer = NULL;
    bool has_read = write(pipe[1], from, sizeof pointer) == sizeof pointer && read(pipe[0], &pointer, sizeof pointer) == sizeof pointer;
    return has_read ? pointer : NULL;
}

/*
 * SQLite has no call for the values that are bound. In each version they are an array of values in its memory, to which the statement
 * has a pointer: the one behind which two known texts are, and which is not that of the row. A statement that reads a virtual table with
 * an argument has all the arrays beside it too.
 */
static void find_parameters(void) {
    enum { SIZE = sizeof(char *) };
    static const char one[] = "one", two[] = "two", sql[] = "SELECT ?1, ?2 FROM pragma_table_info('sqlite_master')";
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int pipe[2], found = 0;
    if (pipe2(pipe, O_CLOEXEC) != 0) return;
    if (library.open_v2(":memory:", &db, OPEN_READWRITE | OPEN_CREATE, NULL) == OK &&
        library.prepare_v2(db, sql, -1, &stmt, NULL) == OK && library.bind_text(stmt, 1, one, -1, NULL) == OK &&
        library.bind_text(stmt, 2, two, -1, NULL) == OK && library.step(stmt) == ROW) {
        const char *row = (const char *)library.column_value(stmt, 0);
        value_size = (size_t)((const char *)library.column_value(stmt, 1) - row);
        while (bytes_at < value_size && pointer_at(row + bytes_at) != one) bytes_at += SIZE;
        for (size_t at = SIZE; at < WORDS * SIZE; at += SIZE) {
            const char *values = pointer_at((const char *)stmt + at);
            if (values == row || pointer_if_any(pipe, values + bytes_at) != one) continue;
            if (pointer_if_any(pipe, values + value_size + bytes_at) == two) parameters_at = at, found++;
        }
    }
    if (found != 1) parameters_at = 0;
    library.finalize(stmt);
    library.close(db);
    close(pipe[0]);
    close(pipe[1]);
}

static int code_of(sqlite3_stmt *stmt, size_t at) {
    int code;
    memcpy(&code, (const char *)stmt + at, sizeof code);
    return code;
}

/* SQLite tells of the end of a statement before it returns the result code: it is the one number that has each of these. */
static void find_code(void) {
    enum { SIZE = sizeof(int), NOT_NULL = 1299, PRIMARY_KEY = 1555 };
    static const struct {
        const char *sql;
        int code;
    } runs[] = {
        {"CREATE TABLE t(a PRIMARY KEY NOT NULL)", OK},
        {"INSERT INTO t VALUES (NULL)", NOT_NULL},
        {"INSERT INTO t VALUES (1)", OK},
        {"INSERT INTO t VALUES (1)", PRIMARY_KEY},
    };
    sqlite3 *db = NULL;
    bool is_other[WORDS * sizeof(char *)] = {false};
    int found = 0;
    bool is_open = library.open_v2(":memory:", &db, OPEN_READWRITE | OPEN_CREATE, NULL) == OK;
    for (unsigned i = 0; is_open && i < sizeof runs / sizeof *runs; i++) {
        sqlite3_stmt *stmt = NULL;
        is_open = library.prepare_v2(db, runs[i].sql, -1, &stmt, NULL) == OK;
        if (is_open) library.step(stmt);
        for (size_t at = SIZE; is_open && at < sizeof is_other; at += SIZE) is_other[at] |= code_of(stmt, at) != runs[i].code;
        library.finalize(stmt);
    }
    for (size_t at = SIZE; is_open && at < sizeof is_other; at += SIZE)
        if (!is_other[at]) code_at = at, found++;
    if (found != 1) code_at = 0;
    library.close(db);
}

static void read_values(struct statement *statement, sqlite3_stmt *stmt) {
    const char *value = pointer_at((const char *)stmt + parameters_at);
    for (int i = 1; i <= (int)statement->values; i++, value += value_size) {
        sqlite3_value *of = (sqlite3_value *)value;
        /* Zeros that are not there yet: to read them would make them. */
        bool is_zeros = parameters_at && library.value_type(of) == BLOB && !pointer_at(value + bytes_at);
        /* A pointer is a null value with this subtype, which begins with the name of the pointer's type. */
        bool is_pointer = parameters_at && library.value_type(of) == NUL && library.value_subtype(of) == 'p';
        const char *type = is_pointer ? pointer_at(value) : NULL;
        if (!parameters_at) keep(statement, UNKNOWN_VALUE, NULL, 0);
        else if (is_pointer) keep(statement, POINTER_VALUE, type, type ? strlen(type) : 0);
        else if (is_zeros) keep(statement, ZEROS_VALUE, NULL, (uint64_t)library.value_bytes(of));
        else keep_value(statement, of);
        store_kept(statement, i, OK);
    }
}

static void statement_begins(struct connection *connection, sqlite3_stmt *stmt, const char *text) {
    /* A statement begins within another one's step: SQLite's own, of a virtual table. Triggers come as comments. */
    if (connection->inner || strncmp(text, "--", 2) == 0) return;
    struct statement *statement = statement_of(stmt);
    if (statement) finalized(statement);
    statement = prepared(connection, stmt);
    if (!statement) return;
    statement->used = true;
    read_values(statement, stmt);
    connection->inner = statement;
    began(statement);
}

static int traced(unsigned event, void *of, void *what, void *text) {
    struct connection *connection = of;
    if (depth) return 0;
    depth++;
    if (event == STATEMENT) statement_begins(connection, what, text);
    struct statement *statement = event == ROW_OF || event == PROFILE ? statement_of(what) : NULL;
    if (statement) {
        if (connection->inner == statement) connection->inner = NULL;
        int code = event == PROFILE && code_at ? code_of(what, code_at) : OK;
        if (event == ROW_OF) gave_row(statement);
        /* After a change of the schema SQLite prepares it anew, and executes it without telling of another begin. */
        else if (code != SCHEMA) {
            /* A statement that is reset before its last row is busy still. */
            ended(statement, code, code == OK && !library.stmt_busy(what));
            finalized(statement);
        }
    }
    depth--;
    if (event == CLOSE) {
        /* After sqlite3_close_v2 statements may go on. */
        library.trace_v2(what, 0, NULL, NULL);
        closed(connection);
    }
    return 0;
}

/* Records a connection, and those opened after it. */
static int automatically(sqlite3 *db, char **message, void **functions) {
    (void)message;
    if (depth) return OK; /* a connection that copies a database */
    if (!library.open_v2) {
        int (*version)(void);
        *(void **)&version = functions[67];
        if (version() < 3014000) return OK; /* no tracing of this kind */
        /* The table of an older SQLite ends before its newer functions. */
        int known = version() >= 3039000 ? 264 : 216;
#define FROM_TABLE(AT, RESULT, NAME, PARAMETERS) *(void **)&library.NAME = AT <= known ? functions[AT] : NULL;
        CALLED(FROM_TABLE)
        Dl_info here;
        char folder[PATH_MAX];
        if (!dladdr((void *)automatically, &here) || !realpath(here.dli_fname, folder)) return OK;
        *strrchr(folder, '/') = 0;
        depth++;
        find_parameters();
        find_code();
        depth--;
        record_to(folder, BY_EXTENSION | (code_at ? KNOWS_CODES : 0));
        if (!code_at) noted(NULL, TROUBLE, 0, "result codes cannot be read in this SQLite");
        if (!parameters_at) noted(NULL, TROUBLE, 0, "the values of parameters cannot be read in this SQLite");
    }
    if (connection_of(db)) return OK;
    struct connection *connection = opened(&library, db, NULL, OPEN_READWRITE, NULL);
    if (connection) library.trace_v2(db, STATEMENT | PROFILE | ROW_OF | CLOSE, traced, connection);
    library.auto_extension((void (*)(void))automatically);
    return OK;
}

PUBLIC int sqlite3_extension_init(sqlite3 *db, char **message, void **functions) {
    automatically(db, message, functions);
    return OK_LOAD_PERMANENTLY;
}
