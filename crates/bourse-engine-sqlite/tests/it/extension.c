// An extension for tests: the function `twice`, and the file system `through`, which passes all calls to the default one.

#include <string.h>

// Places of functions in SQLite's table for extensions.
enum { CREATE_FUNCTION = 45, RESULT_INT64 = 83, VALUE_INT64 = 107, VFS_FIND = 141, VFS_REGISTER = 142 };
enum { UTF8 = 1, OK_LOAD_PERMANENTLY = 256 };

// Begin of `sqlite3_vfs`, version 1 to 3.
struct file_system {
    int version, file_bytes, longest_path;
    struct file_system *next;
    const char *name;
    void *data_and_functions[17];
};

static void **api;

static void twice(void *context, int count, void **values) {
    (void)count;
    long long (*value)(void *) = (long long (*)(void *))api[VALUE_INT64];
    ((void (*)(void *, long long))api[RESULT_INT64])(context, 2 * value(values[0]));
}

int sqlite3_extension_init(void *db, char **message, void **functions) {
    (void)message;
    api = functions;
    static struct file_system through;
    if (!through.name) {
        memcpy(&through, ((struct file_system * (*)(const char *))api[VFS_FIND])(0), sizeof through);
        through.name = "through";
        ((int (*)(struct file_system *, int))api[VFS_REGISTER])(&through, 0);
    }
    int (*create)(void *, const char *, int, int, void *, void (*)(void *, int, void **), void *, void *) =
        (int (*)(void *, const char *, int, int, void *, void (*)(void *, int, void **), void *, void *))api[CREATE_FUNCTION];
    int made = create(db, "twice", 1, UTF8, 0, twice, 0, 0);
    return made ? made : OK_LOAD_PERMANENTLY;
}
