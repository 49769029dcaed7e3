#pragma once
#include <dlfcn.h>
#include <stdbool.h>

/* libpsl is loaded where somebody asks about a domain. Its functions are stable since version 0.12, so that its headers are
   not needed. */
struct libpsl {
    void *(*latest)(const char *file);
    int (*is_public_suffix2)(const void *list, const char *domain, int type);
};

/* PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE: a top-level domain that is not in the list, such as `corp`, is not public. */
#define LIBPSL_TYPE (3 | 4)

/* False when the library is not installed, or is not what is declared here. */
static inline bool libpsl_load(struct libpsl *table) {
    void *library = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    table->latest = (__typeof__(table->latest))dlsym(library, "psl_latest");
    table->is_public_suffix2 = (__typeof__(table->is_public_suffix2))dlsym(library, "psl_is_public_suffix2");
    return table->latest && table->is_public_suffix2;
}
