#pragma once
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

/* libidn2 is loaded where a rule file has a host beyond ASCII, to say how it is written. Two functions, stable since
   version 2.0, are all that is used, so that its headers are not needed. */
struct libidn2 {
    int (*to_ascii_8z)(const char *input, char **output, int flags);
    void (*free)(void *text);
};

/* IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL: as browsers do (UTS 46). */
#define LIBIDN2_FLAGS (1 | 8)

/* False when the library is not installed, or is not what is declared here. */
static inline bool libidn2_load(struct libidn2 *table) {
    void *library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    table->to_ascii_8z = (__typeof__(table->to_ascii_8z))dlsym(library, "idn2_to_ascii_8z");
    table->free = (__typeof__(table->free))dlsym(library, "idn2_free");
    return table->to_ascii_8z && table->free;
}
