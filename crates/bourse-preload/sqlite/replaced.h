/* Functions of SQLite that the preloaded library calls beside those of trace.h, mostly because it replaces them. */
#ifndef BOURSE_REPLACED_H
#define BOURSE_REPLACED_H
#include <stdint.h>

typedef struct sqlite3_blob sqlite3_blob;
typedef int (*exec_callback)(void *, int, char **, char **);
typedef void (*destructor)(void *);
struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;
struct sqlite3_backup;

#define REPLACED(X)                                                                                                            \
    X(-1, int, open_v2, (const char *, struct sqlite3 **, int, const char *))                                                    \
    X(-1, int, open, (const char *, struct sqlite3 **))                                                                        \
    X(-1, int, open16, (const void *, struct sqlite3 **))                                                                      \
    X(-1, int, close, (struct sqlite3 *))                                                                                      \
    X(-1, int, close_v2, (struct sqlite3 *))                                                                                   \
    X(-1, int, prepare, (struct sqlite3 *, const char *, int, struct sqlite3_stmt **, const char **))                          \
    X(-1, int, prepare_v2, (struct sqlite3 *, const char *, int, struct sqlite3_stmt **, const char **))                       \
    X(-1, int, prepare_v3, (struct sqlite3 *, const char *, int, unsigned, struct sqlite3_stmt **, const char **))             \
    X(-1, int, prepare16, (struct sqlite3 *, const void *, int, struct sqlite3_stmt **, const void **))                        \
    X(-1, int, prepare16_v2, (struct sqlite3 *, const void *, int, struct sqlite3_stmt **, const void **))                     \
    X(-1, int, prepare16_v3, (struct sqlite3 *, const void *, int, unsigned, struct sqlite3_stmt **, const void **))           \
    X(-1, int, step, (struct sqlite3_stmt *))                                                                                  \
    X(-1, int, reset, (struct sqlite3_stmt *))                                                                                 \
    X(-1, int, finalize, (struct sqlite3_stmt *))                                                                              \
    X(-1, int, clear_bindings, (struct sqlite3_stmt *))                                                                        \
    X(-1, int, bind_null, (struct sqlite3_stmt *, int))                                                                        \
    X(-1, int, bind_int64, (struct sqlite3_stmt *, int, int64_t))                                                              \
    X(-1, int, bind_double, (struct sqlite3_stmt *, int, double))                                                              \
    X(-1, int, bind_text, (struct sqlite3_stmt *, int, const char *, int, destructor))                                         \
    X(-1, int, bind_text16, (struct sqlite3_stmt *, int, const void *, int, destructor))                                       \
    X(-1, int, bind_text64, (struct sqlite3_stmt *, int, const char *, uint64_t, destructor, unsigned char))                   \
    X(-1, int, bind_blob, (struct sqlite3_stmt *, int, const void *, int, destructor))                                         \
    X(-1, int, bind_blob64, (struct sqlite3_stmt *, int, const void *, uint64_t, destructor))                                  \
    X(-1, int, bind_zeroblob, (struct sqlite3_stmt *, int, int))                                                               \
    X(-1, int, bind_zeroblob64, (struct sqlite3_stmt *, int, uint64_t))                                                        \
    X(-1, int, bind_value, (struct sqlite3_stmt *, int, const struct sqlite3_value *))                                         \
    X(-1, int, transfer_bindings, (struct sqlite3_stmt *, struct sqlite3_stmt *))                                              \
    X(-1, int, bind_pointer, (struct sqlite3_stmt *, int, void *, const char *, destructor))                                   \
    X(-1, int, column_count, (struct sqlite3_stmt *))                                                                          \
    X(-1, const char *, column_name, (struct sqlite3_stmt *, int))                                                             \
    X(-1, int, column_type, (struct sqlite3_stmt *, int))                                                                      \
    X(-1, const unsigned char *, column_text, (struct sqlite3_stmt *, int))                                                    \
    X(-1, const char *, errstr, (int))                                                                                         \
    X(-1, char *, mprintf, (const char *, ...))                                                                                \
    X(-1, int, exec, (struct sqlite3 *, const char *, exec_callback, void *, char **))                                         \
    X(-1, int, get_table, (struct sqlite3 *, const char *, char ***, int *, int *, char **))                                   \
    X(-1, int, busy_timeout, (struct sqlite3 *, int))                                                                          \
    X(-1, int, busy_handler, (struct sqlite3 *, int (*)(void *, int), void *))                                                 \
    X(-1, int, create_function, (struct sqlite3 *, const char *, int, int, void *, void *, void *, void *))                    \
    X(-1, int, create_function_v2, (struct sqlite3 *, const char *, int, int, void *, void *, void *, void *, destructor))     \
    X(-1, int, create_window_function,                                                                                         \
      (struct sqlite3 *, const char *, int, int, void *, void *, void *, void *, void *, destructor))                          \
    X(-1, int, create_collation, (struct sqlite3 *, const char *, int, void *, void *))                                        \
    X(-1, int, create_collation_v2, (struct sqlite3 *, const char *, int, void *, void *, destructor))                         \
    X(-1, int, create_module, (struct sqlite3 *, const char *, void *, void *))                                                \
    X(-1, int, create_module_v2, (struct sqlite3 *, const char *, void *, void *, destructor))                                 \
    X(-1, int, limit, (struct sqlite3 *, int, int))                                                                            \
    X(-1, int, db_config, (struct sqlite3 *, int, ...))                                                                        \
    X(-1, int, set_authorizer, (struct sqlite3 *, void *, void *))                                                             \
    X(-1, void *, commit_hook, (struct sqlite3 *, void *, void *))                                                             \
    X(-1, void *, rollback_hook, (struct sqlite3 *, void *, void *))                                                           \
    X(-1, void, progress_handler, (struct sqlite3 *, int, void *, void *))                                                     \
    X(-1, void, set_last_insert_rowid, (struct sqlite3 *, int64_t))                                                            \
    X(-1, int, load_extension, (struct sqlite3 *, const char *, const char *, char **))                                        \
    X(-1, int, blob_open,                                                                                                      \
      (struct sqlite3 *, const char *, const char *, const char *, int64_t, int, sqlite3_blob **))                             \
    X(-1, int, deserialize, (struct sqlite3 *, const char *, unsigned char *, int64_t, int64_t, unsigned))
#endif
