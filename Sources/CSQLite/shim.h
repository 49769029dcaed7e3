#pragma once
#include <sqlite3.h>
#include <stdint.h>
/* SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import. */
static inline int attache_sqlite3_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, count > 0 ? bytes : "", count, SQLITE_TRANSIENT);
}
static inline int attache_sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int count) {
    return sqlite3_bind_text(statement, place, text, count, SQLITE_TRANSIENT);
}

/* What lies beneath a connection to a write-ahead log, by SQLite's own file handles: a descriptor that is opened and
   closed beside them would drop its POSIX locks. Nothing else may be asked of the connection meanwhile. */
static inline sqlite3_file *attache_sqlite3_file(sqlite3 *connection) {
    sqlite3_file *file = 0;
    int result = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return result == SQLITE_OK && file && file->pMethods && file->pMethods->iVersion >= 2 ? file : 0;
}
/* The first 100 bytes of the database file, zeros behind its end. */
static inline int attache_sqlite3_read_header(sqlite3 *connection, unsigned char *header) {
    sqlite3_file *file = attache_sqlite3_file(connection);
    int result = file ? file->pMethods->xRead(file, header, 100, 0) : SQLITE_ERROR;
    return result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ;
}
/* From the index of the log ("WAL-mode File Format", section 2): the log's two salts, how many frames of it are in the
   database file, and how many were to be there. */
static inline int attache_sqlite3_read_log_index(sqlite3 *connection, uint32_t *values) {
    sqlite3_file *file = attache_sqlite3_file(connection);
    volatile void *start = 0;
    if (!file || file->pMethods->xShmMap(file, 0, 32768, 0, &start) != SQLITE_OK || !start) return 0;
    volatile uint32_t *words = start;
    values[0] = words[8];
    values[1] = words[9];
    values[2] = words[24];
    values[3] = words[32];
    return 1;
}
/* The lock of those who copy the log into the file. */
static inline int attache_sqlite3_lock_checkpoints(sqlite3 *connection, int locks) {
    sqlite3_file *file = attache_sqlite3_file(connection);
    int flags = (locks ? SQLITE_SHM_LOCK : SQLITE_SHM_UNLOCK) | SQLITE_SHM_EXCLUSIVE;
    return file && file->pMethods->xShmLock(file, 1, 1, flags) == SQLITE_OK;
}
/* Closing the connection leaves the log where it is. */
static inline void attache_sqlite3_keep_log(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
