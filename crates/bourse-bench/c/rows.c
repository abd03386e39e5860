/* The classic workloads' point read and bulk load as a C program does them: one connection a thread, statements prepared
 * once, the clock read around a batch of short operations.
 *
 * Every function returns SQLite's code; 0 is fine. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The most keys of a batch. */
#define BATCH 1024

/* Rows inserted between two looks at the clock. */
#define SAMPLE 1000

/* Nanoseconds; also holds a thread back while it is the other side's turn. */
struct clock {
    uint64_t (*now)(void *place);
    void *place;
};

static uint64_t now(const struct clock *clock)
{
    return clock->now(clock->place);
}

/* SplitMix64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = (*state += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

int bourse_yardstick_open(const char *name, const char *setup, sqlite3 **db)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(name, db, flags, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*db, setup, NULL, NULL, NULL);
    return code;
}

/* Takes a file and its log out of a file system; one that is not there is fine. */
void bourse_yardstick_remove(const char *vfs, const char *file, const char *log)
{
    sqlite3_vfs *files = sqlite3_vfs_find(vfs);
    if (files != NULL) {
        files->xDelete(files, file, 0);
        files->xDelete(files, log, 0);
    }
}

void bourse_yardstick_close(sqlite3 *db)
{
    sqlite3_close(db);
}

/* The sum of a text's bytes, eight at a time as little-endian numbers, and of its length: every byte is looked at. */
static uint64_t text_sum(const unsigned char *text, int length)
{
    uint64_t sum = (uint64_t)length * 0x9e3779b97f4a7c15u, last = 0;
    int at = 0;
    for (; at + 8 <= length; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        sum += word;
    }
    if (at < length)
        memcpy(&last, text + at, (size_t)(length - at));
    return sum + last;
}

/* Reads the columns behind the key: a number and two texts. */
static uint64_t row_sum(sqlite3_stmt *statement)
{
    uint64_t sum = (uint64_t)sqlite3_column_int64(statement, 1);
    for (int column = 2; column < 4; column++) {
        const unsigned char *text = sqlite3_column_text(statement, column);
        sum += text_sum(text, sqlite3_column_bytes(statement, column));
    }
    return sum;
}

/* Reads rows by keys from 1 to `rows`, every byte of them: for `warm_up_ns` and then for `for_ns`; `reads` and `ns` are what was done in the
 * latter and how long it took. */
int bourse_yardstick_reads(sqlite3 *db, const char *sql, uint64_t rows, uint64_t seed, int batch, uint64_t warm_up_ns,
                           uint64_t for_ns, const struct clock *clock, uint64_t *reads, uint64_t *ns)
{
    sqlite3_int64 keys[BATCH];
    sqlite3_stmt *statement;
    uint64_t begin, end, done = 0, found = 0, before = 0, sum = 0;
    int warm = 0;
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    begin = end = now(clock);
    while (!warm || end - begin < for_ns) {
        if (!warm && end - begin >= warm_up_ns) {
            warm = 1;
            begin = end;
            before = done;
        }
        for (int i = 0; i < batch; i++)
            keys[i] = 1 + (sqlite3_int64)(((unsigned __int128)next_random(&seed) * rows) >> 64);
        for (int i = 0; i < batch; i++) {
            sqlite3_bind_int64(statement, 1, keys[i]);
            if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == keys[i]) {
                found++;
                sum += row_sum(statement);
            }
            code = sqlite3_reset(statement);
            if (code != SQLITE_OK)
                goto out;
        }
        done += (uint64_t)batch;
        end = now(clock);
    }
    /* No sum of texts is zero but by accident: it is asked for so that it is made. */
    code = found == done && sum != 0 ? SQLITE_OK : SQLITE_CORRUPT;
out:
    sqlite3_finalize(statement);
    *reads = done - before;
    *ns = end - begin;
    return code;
}

/* Where the next text begins, counted on: dividing would cost more than the rest of a row. */
static uint64_t next_start(uint64_t start, uint64_t starts)
{
    start += 7919;
    return start < starts ? start : start - starts;
}

/* Inserts rows 1 to `rows` in one transaction, each with two texts of `width` bytes out of `text`, which has `starts` more
 * bytes than that; `ns` is what it took with its commit. */
int bourse_yardstick_inserts(sqlite3 *db, const char *sql, uint64_t rows, const char *text, uint64_t starts, int width,
                             const struct clock *clock, uint64_t *ns)
{
    sqlite3_stmt *statement;
    uint64_t begin, start = 0;
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    begin = now(clock);
    code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (uint64_t row = 0; row < rows && code == SQLITE_OK; row++) {
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)row + 1);
        sqlite3_bind_int64(statement, 2, 0);
        sqlite3_bind_text(statement, 3, text + start, width, SQLITE_STATIC);
        start = next_start(start, starts);
        sqlite3_bind_text(statement, 4, text + start, width, SQLITE_STATIC);
        start = next_start(start, starts);
        code = sqlite3_step(statement);
        if (code == SQLITE_DONE)
            code = sqlite3_reset(statement);
        if (row % SAMPLE == SAMPLE - 1)
            now(clock);
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    *ns = now(clock) - begin;
    sqlite3_finalize(statement);
    return code;
}
