/* What the parts of the recorder of SQLite share: the library it finds, its connections and statements, the trace. */
#ifndef BOURSE_TRACE_H
#define BOURSE_TRACE_H
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SQLite's types and codes, as its documentation has them. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_backup sqlite3_backup;
typedef struct sqlite3_mutex sqlite3_mutex;
enum { OK = 0, ERROR = 1, ABORT = 4, BUSY = 5, LOCKED = 6, SCHEMA = 17, MISUSE = 21, ROW = 100, DONE = 101, OK_LOAD_PERMANENTLY = 256 };
enum { OPEN_READONLY = 1, OPEN_READWRITE = 2, OPEN_CREATE = 4 };
enum { INTEGER = 1, FLOAT = 2, TEXT = 3, BLOB = 4, NUL = 5 };

/* Functions that are called: position in the table that SQLite passes to extensions, result, name, parameters. */
#define CALLED(X)                                                                                                              \
    X(7, int, bind_parameter_count, (sqlite3_stmt *))                                                                          \
    X(10, int, bind_text, (sqlite3_stmt *, int, const char *, int, void (*)(void *)))                                          \
    X(16, int, close, (sqlite3 *))                                                                                             \
    X(39, sqlite3_value *, column_value, (sqlite3_stmt *, int))                                                                \
    X(48, int, data_count, (sqlite3_stmt *))                                                                                   \
    X(49, sqlite3 *, db_handle, (sqlite3_stmt *))                                                                              \
    X(53, const char *, errmsg, (sqlite3 *))                                                                                   \
    X(57, int, finalize, (sqlite3_stmt *))                                                                                     \
    X(60, int, get_autocommit, (sqlite3 *))                                                                                    \
    X(66, const char *, libversion, (void))                                                                                    \
    X(94, int, step, (sqlite3_stmt *))                                                                                         \
    X(97, int, total_changes, (sqlite3 *))                                                                                     \
    X(102, const void *, value_blob, (sqlite3_value *))                                                                        \
    X(103, int, value_bytes, (sqlite3_value *))                                                                                \
    X(105, double, value_double, (sqlite3_value *))                                                                            \
    X(107, int64_t, value_int64, (sqlite3_value *))                                                                            \
    X(109, const unsigned char *, value_text, (sqlite3_value *))                                                               \
    X(113, int, value_type, (sqlite3_value *))                                                                                 \
    X(116, int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **))                                    \
    X(127, int, file_control, (sqlite3 *, const char *, int, void *))                                                          \
    X(131, void, mutex_enter, (sqlite3_mutex *))                                                                               \
    X(133, void, mutex_leave, (sqlite3_mutex *))                                                                               \
    X(135, int, open_v2, (const char *, sqlite3 **, int, const char *))                                                        \
    X(153, const char *, sql, (sqlite3_stmt *))                                                                                \
    X(155, int, backup_finish, (sqlite3_backup *))                                                                             \
    X(156, sqlite3_backup *, backup_init, (sqlite3 *, const char *, sqlite3 *, const char *))                                  \
    X(159, int, backup_step, (sqlite3_backup *, int))                                                                          \
    X(163, int, db_config, (sqlite3 *, int, ...))                                                                              \
    X(164, sqlite3_mutex *, db_mutex, (sqlite3 *))                                                                             \
    X(166, int, extended_errcode, (sqlite3 *))                                                                                 \
    X(180, const char *, db_filename, (sqlite3 *, const char *))                                                               \
    X(184, int, stmt_busy, (sqlite3_stmt *))                                                                                   \
    X(185, int, stmt_readonly, (sqlite3_stmt *))                                                                               \
    X(192, int, auto_extension, (void (*)(void)))                                                                              \
    X(204, sqlite3_value *, value_dup, (const sqlite3_value *))                                                                \
    X(205, void, value_free, (sqlite3_value *))                                                                                \
    X(208, unsigned, value_subtype, (sqlite3_value *))                                                                        \
    X(214, int, trace_v2, (sqlite3 *, unsigned, int (*)(unsigned, void *, void *, void *), void *))                            \
    X(264, const char *, db_name, (sqlite3 *, int))

struct library {
#define MEMBER(AT, RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    CALLED(MEMBER)
};

/* A thing that SQLite made, found by its address. */
struct entry {
    const void *key;
    struct entry *next;
};

struct connection {
    struct entry entry;
    struct library *library;
    uint64_t number, flags, users; /* number in the trace; its statements, and itself while it is open */
    unsigned process; /* number of the process that the trace is of: a forked one has a trace of its own */
    struct statement *inner; /* extension: the statement that has begun and given no row yet */
    bool autocommit; /* after the last execution that may change it */
    bool calls_without_rows; /* whether sqlite3_exec may call back for a result without rows */
    const char *vfs, *path;
    char copy[320];
    unsigned base;
};

/* Types of values as they stand in a trace. UNKNOWN_VALUE: one that is not recorded; POINTER_VALUE: the name of its type. */
enum { NULL_VALUE, INT_VALUE, REAL_VALUE, TEXT_VALUE, BLOB_VALUE, ZEROS_VALUE, UNKNOWN_VALUE, POINTER_VALUE };
static inline bool has_bytes(uint8_t type) { return type == TEXT_VALUE || type == BLOB_VALUE || type == POINTER_VALUE; }
struct value {
    uint8_t type;
    union {
        int64_t number;
        uint64_t length;
        double real;
    };
    char *bytes;
    size_t room;
};

struct statement {
    struct entry entry;
    struct connection *connection;
    sqlite3 *db;
    uint64_t text;
    unsigned process;
    bool running, used, attaches, autocommit;
    bool legacy;  /* whether its step returns no code of an error, but its reset */
    bool failed;  /* whether it waits for that */
    bool reads;   /* a query, which changes no rows, and begins and ends no transaction */
    bool is_utf8; /* whether its texts were seen to be in UTF-8, so that reading one converts nothing */
    bool clears;  /* whether its values are null once it has ended */
    int changes;
    uint64_t begun, rows, ordered, unordered;
    uintptr_t distance; /* between the values of a row, in bytes; 0: not known */
    unsigned row_at;    /* position of the pointer to them in the statement, in bytes; 0: not known */
    int columns;        /* number of the columns that both are of */
    unsigned values;
    struct value *value, kept; /* kept: one that SQLite has not accepted yet */
};

/* Bits of an execution, bases of connections and kinds of notes: record.rs of bourse-trace has the same. */
enum { BEFORE = 1, AFTER = 2, FIRST = 4, COMPLETE = 8 };
enum { IN_MEMORY, COPIED, NEW, MISSING, INHERITED, ANEW, OTHER_FILE };
enum note {
    FUNCTION = 1, COLLATION, MODULE, EXTENSION, INCREMENTAL_BLOB, BACKUP, DESERIALIZE, BUSY_TIMEOUT, BUSY_HANDLER, ATTACHED,
    UNSEEN, TROUBLE, NOT_OPENED, HOOK
};

/* How often a call is inside another one: what SQLite does by itself then is no call of the program. */
extern __thread int depth __attribute__((tls_model("initial-exec")));
/* The library of the outermost call, which such calls go to. */
extern __thread struct library *within __attribute__((tls_model("initial-exec")));

static inline struct library *enter(struct library *library) {
    struct library *before = within;
    within = library;
    depth++;
    return before;
}
static inline void leave(struct library *before) {
    depth--;
    within = before;
}

/* Begins a trace in that folder with the first thing recorded; the mode is that of its head. */
enum { BY_EXTENSION = 1, KNOWS_CODES = 4 };
void record_to(const char *folder, uint32_t mode);
/* Ends the trace of a process that ends without its destructors. */
void exits(void);
bool is_recording(void);

/* The folder. */
extern char recorded_to[];
uint64_t digest(uint64_t digest, const void *bytes, size_t length);
/* Stores how a connection that is closed left its file. */
void left(const struct connection *connection);
/* Copies a database of a connection by SQLite's backup; its name in the folder, and how the database began. The result code of the
   backup, where there is one. */
unsigned copied(struct library *library, sqlite3 *db, const char *name, int flags, const char *vfs, char *copy, size_t size, int *code);

struct connection *connection_of(const void *db);
/* The statement that a thread used last: valid while nothing was removed, as `removed` counts. */
struct remembered {
    const void *key;
    struct statement *statement;
    unsigned when;
};
extern __thread struct remembered remembered __attribute__((tls_model("initial-exec")));
extern atomic_uint removed;
struct statement *find_statement(const void *stmt);
static inline struct statement *statement_of(const void *stmt) {
    bool is_last = stmt && remembered.key == stmt && remembered.when == removed;
    return is_last ? remembered.statement : find_statement(stmt);
}
struct connection *opened(struct library *library, sqlite3 *db, const char *name, int flags, const char *vfs);
void closed(struct connection *connection);
struct statement *prepared(struct connection *connection, sqlite3_stmt *stmt);
void refused(struct connection *connection, const char *sql, size_t length);
void finalized(struct statement *statement);
static void began(struct statement *statement);
static void gave_row(struct statement *statement);
static void ended(struct statement *statement, int code, bool complete);
void noted(struct connection *connection, enum note note, int64_t number, const char *name);
/* Stores a parameter's value without bytes, which SQLite has accepted. */
static void store(struct statement *statement, int index, uint8_t type, uint64_t number);
/* Copies a value, which SQLite may refuse or free. */
static void keep(struct statement *statement, uint8_t type, const void *bytes, uint64_t length);
static void keep_value(struct statement *statement, sqlite3_value *value);
/* Stores the value that was copied, by the result code of binding it. */
static void store_kept(struct statement *statement, int index, int code);
#endif
