/*
 * The loadable extension: records a connection, and those opened after it in the same process, by SQLite's tracing. The trace's
 * folder is the one that the extension is in.
 *
 * Tracing tells less than replaced functions: no result codes, no refused statements, no calls beside statements. Bound
 * values are read from the expanded text, which has 15 digits of a double.
 */
/* One translation unit: a call of the program costs less where the parts are compiled into it. */
#include "trace.c"
#include "copies.c"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PUBLIC __attribute__((visibility("default")))
enum { STATEMENT = 1, PROFILE = 2, ROW_OF = 4, CLOSE = 8 };

static struct library library;

/* Bytes of the text, blank, comment, name or quoted, that begins there; parameters are one each. */
static size_t token(const char *at) {
    const char *end;
    if (*at == '-' && at[1] == '-') return (end = strchr(at, '\n')) ? (size_t)(end - at) : strlen(at);
    if (*at == '/' && at[1] == '*') return (end = strstr(at + 2, "*/")) ? (size_t)(end - at) + 2 : strlen(at);
    if (strchr("'\"`[", *at)) {
        char close = *at == '[' ? ']' : *at;
        for (end = at + 1; *end && (*end != close || (close != ']' && end[1] == close)); end++) end += *end == close;
        return (size_t)(end - at) + (*end != 0);
    }
    size_t length = strchr("?:@$#", *at) != NULL;
    while (at[length] && (at[length] & 0x80 || strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$", at[length]) ||
                          (*at == '$' && strchr("():", at[length]))))
        length++;
    return length ? length : 1;
}

/* Reads the literal of a value; bytes of it. */
static size_t read_value(struct statement *statement, int index, const char *at) {
    size_t length = token(at);
    if ((*at == 'x' || *at == 'X') && at[1] == '\'') {
        size_t digits = token(at + 1) - 2;
        char *bytes = malloc(digits / 2 + 1), pair[3] = "";
        for (size_t i = 0; bytes && i < digits / 2; i++) {
            memcpy(pair, at + 2 + 2 * i, 2);
            bytes[i] = (char)strtoul(pair, NULL, 16);
        }
        store(statement, index, bytes ? BLOB_VALUE : POINTER_VALUE, bytes, digits / 2);
        free(bytes);
        return digits + 3;
    }
    if (*at == '\'') {
        char *text = malloc(length), *to = text;
        for (const char *from = at + 1; text && from < at + length - 1; from++) {
            *to++ = *from;
            if (*from == '\'') from++;
        }
        store(statement, index, text ? TEXT_VALUE : POINTER_VALUE, text, text ? (uint64_t)(to - text) : 0);
        free(text);
        return length;
    }
    if (strncmp(at, "zeroblob(", 9) == 0) {
        store(statement, index, ZEROS_VALUE, NULL, strtoull(at + 9, NULL, 10));
        return (size_t)(strchr(at, ')') + 1 - at);
    }
    if (strncasecmp(at, "NULL", 4) == 0) {
        store(statement, index, NULL_VALUE, NULL, 0);
        return 4;
    }
    char *of_number, *of_real;
    int64_t number = strtoll(at, &of_number, 10);
    double real = strtod(at, &of_real);
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    if (of_real > of_number) store(statement, index, REAL_VALUE, NULL, bits);
    else store(statement, index, INT_VALUE, NULL, (uint64_t)number);
    return of_real > at ? (size_t)(of_real - at) : length;
}

/* Reads the values of a statement's parameters from its text with and without them. */
static void read_values(struct statement *statement, sqlite3_stmt *stmt, const char *sql, const char *expanded) {
    int last = 0;
    while (*sql && *expanded) {
        size_t length = token(sql);
        if (!strchr("?:@$#", *sql) || (length == 1 && *sql != '?')) {
            if (strncmp(sql, expanded, length) != 0) return noted(statement->connection, TROUBLE, 0, "the values of a statement cannot be read");
            sql += length;
            expanded += length;
            continue;
        }
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)length, sql);
        int index = *sql == '?' ? (length > 1 ? atoi(name + 1) : last + 1) : library.bind_parameter_index(stmt, name);
        if (index > last) last = index;
        expanded += read_value(statement, index, expanded);
        sql += length;
    }
}

static void statement_begins(struct connection *connection, sqlite3_stmt *stmt, const char *text) {
    /* A statement begins within another one's step: SQLite's own, of a virtual table. Triggers come as comments. */
    if (connection->inner || strncmp(text, "--", 2) == 0) return;
    struct statement *statement = statement_of(stmt);
    if (statement) finalized(statement);
    statement = prepared(connection, stmt);
    if (!statement) return;
    statement->from_text = statement->used = true;
    const char *sql = library.sql(stmt);
    char *expanded = statement->values ? library.expanded_sql(stmt) : NULL;
    if (expanded && sql) read_values(statement, stmt, sql, expanded);
    else if (statement->values) noted(connection, TROUBLE, 0, "the values of a statement are too long to be read");
    library.free(expanded);
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
        if (event == ROW_OF) gave_row(statement);
        else {
            /* A statement that is reset before its last row is busy still. */
            ended(statement, OK, !library.stmt_busy(what));
            finalized(statement);
        }
    }
    depth--;
    if (event == CLOSE) closed(connection);
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
        record_to(folder, true);
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
