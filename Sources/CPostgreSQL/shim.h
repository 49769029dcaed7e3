#pragma once
#include <dlfcn.h>
#include <postgresql/libpq-fe.h>
#include <stdbool.h>

/* libpq is loaded when a store in PostgreSQL is opened, and not before: it brings thirty libraries with it, which would
   double the memory of a sidecar that keeps its credentials in a file. */
#define LIBPQ_FUNCTIONS(F) \
    F(connectdbParams) F(finish) F(status) F(errorMessage) F(setNoticeProcessor) F(isBusy) F(resultStatus) \
    F(resultErrorMessage) F(resultErrorField) F(ntuples) F(nfields) F(getisnull) F(getvalue) F(ftype) F(clear) \
    F(unescapeBytea) F(freemem) F(notifies) F(consumeInput) F(socket) \
    F(sendQueryParams) F(setSingleRowMode) F(getResult) F(getlength)

struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(&PQ##name) name;
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

/* False when the library is not installed, or is not what its header says. */
static inline bool libpq_load(struct libpq *table) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LIBPQ_LOAD(name) \
    if (!(table->name = (__typeof__(&PQ##name))dlsym(library, "PQ" #name))) return false;
    LIBPQ_FUNCTIONS(LIBPQ_LOAD)
#undef LIBPQ_LOAD
    return true;
}
