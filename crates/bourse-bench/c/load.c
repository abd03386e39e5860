/* The least that loads a database: rows that lie ready in memory, one prepared INSERT a table, then the indexes.
 *
 * A row is its values one after another: a tag (0 NULL, 1 integer, 2 text, 3 bytes), then eight bytes of integer or length
 * in the machine's order, then the text or bytes. */
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

struct table {
    const char *insert;
    const unsigned char *rows;
    size_t bytes;
    int columns;
};

static int insert_rows(sqlite3 *db, const struct table *table)
{
    sqlite3_stmt *statement;
    const unsigned char *at = table->rows;
    const unsigned char *end = at + table->bytes;
    int code = sqlite3_prepare_v3(db, table->insert, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    while (code == SQLITE_OK && at < end) {
        for (int column = 1; column <= table->columns; column++) {
            unsigned char tag = *at++;
            sqlite3_int64 number = 0;
            if (tag != 0) {
                memcpy(&number, at, 8);
                at += 8;
            }
            switch (tag) {
            case 0: sqlite3_bind_null(statement, column); break;
            case 1: sqlite3_bind_int64(statement, column, number); break;
            case 2: sqlite3_bind_text(statement, column, (const char *)at, (int)number, SQLITE_STATIC); at += number; break;
            default: sqlite3_bind_blob(statement, column, at, (int)number, SQLITE_STATIC); at += number; break;
            }
        }
        code = sqlite3_step(statement);
        if (code == SQLITE_DONE)
            code = sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return code;
}

/* Returns SQLite's code; 0 is fine. `prepare` sets the pragmas and makes the tables, `finish` makes the indexes. */
int bourse_yardstick_load(const char *path, const char *prepare, const struct table *tables, int count, const char *finish)
{
    sqlite3 *db;
    int code = sqlite3_open(path, &db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, prepare, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        code = insert_rows(db, &tables[i]);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, finish, NULL, NULL, NULL);
    sqlite3_close(db);
    return code;
}
