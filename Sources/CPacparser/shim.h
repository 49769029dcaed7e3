#pragma once
#include <dlfcn.h>
#include <pacparser.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>

/* libpacparser is loaded where a rule file names a PAC file, and only in the process that evaluates it. */
#define LIBPACPARSER_FUNCTIONS(F) F(init) F(parse_pac_string) F(find_proxy) F(set_error_printer)

struct libpacparser {
#define LIBPACPARSER_MEMBER(name) __typeof__(&pacparser_##name) name;
    LIBPACPARSER_FUNCTIONS(LIBPACPARSER_MEMBER)
#undef LIBPACPARSER_MEMBER
    /* The first thing that the library complained about. */
    char *complaint;
};

#define LIBPACPARSER_ROOM 256

/* Each Swift file that calls this has a text of its own. So it is for this header alone, and others read the table's. */
static inline char *libpacparser_complaint(void) {
    static char text[LIBPACPARSER_ROOM];
    return text;
}

static inline int libpacparser_note(const char *format, va_list arguments) {
    char *text = libpacparser_complaint();
    return text[0] ? 0 : vsnprintf(text, LIBPACPARSER_ROOM, format, arguments);
}

/* False when the library is not installed, or is not what its header says. */
static inline bool libpacparser_load(struct libpacparser *table) {
    void *library = dlopen("libpacparser.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LIBPACPARSER_LOAD(name) \
    if (!(table->name = (__typeof__(&pacparser_##name))dlsym(library, "pacparser_" #name))) return false;
    LIBPACPARSER_FUNCTIONS(LIBPACPARSER_LOAD)
#undef LIBPACPARSER_LOAD
    table->complaint = libpacparser_complaint();
    table->set_error_printer(libpacparser_note);
    return true;
}

/* Whatever becomes of the process that started this one, this one ends with it. */
static inline void libpacparser_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }
