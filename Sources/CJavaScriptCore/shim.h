#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* JavaScriptCore's C API, which is stable since 2007, so that its headers are not needed. The library is loaded only in the
   process that evaluates a PAC file. */
typedef const struct OpaqueJSValue *jsc_value;
typedef const struct OpaqueJSContext *jsc_context;
typedef struct OpaqueJSString *jsc_string;
typedef jsc_value (*jsc_function)(
    jsc_context context, jsc_value function, jsc_value this_object, size_t count, const jsc_value arguments[],
    jsc_value *exception);

struct libjavascriptcore {
    jsc_context (*JSGlobalContextCreate)(const void *global_class);
    jsc_value (*JSContextGetGlobalObject)(jsc_context);
    jsc_string (*JSStringCreateWithUTF8CString)(const char *);
    void (*JSStringRelease)(jsc_string);
    size_t (*JSStringGetMaximumUTF8CStringSize)(jsc_string);
    size_t (*JSStringGetUTF8CString)(jsc_string, char *room, size_t size);
    jsc_value (*JSEvaluateScript)(
        jsc_context, jsc_string script, jsc_value this_object, jsc_string url, int first_line, jsc_value *exception);
    jsc_value (*JSObjectMakeFunctionWithCallback)(jsc_context, jsc_string name, jsc_function);
    void (*JSObjectSetProperty)(
        jsc_context, jsc_value object, jsc_string name, jsc_value value, unsigned attributes, jsc_value *exception);
    jsc_value (*JSObjectGetProperty)(jsc_context, jsc_value object, jsc_string name, jsc_value *exception);
    jsc_value (*JSObjectCallAsFunction)(
        jsc_context, jsc_value function, jsc_value this_object, size_t count, const jsc_value arguments[],
        jsc_value *exception);
    jsc_string (*JSValueToStringCopy)(jsc_context, jsc_value, jsc_value *exception);
    jsc_value (*JSValueMakeString)(jsc_context, jsc_string);
    jsc_value (*JSValueMakeNull)(jsc_context);
    bool (*JSValueIsObject)(jsc_context, jsc_value);
};

/* False when the library is not installed, or is not what is declared here. */
static inline bool libjavascriptcore_load(struct libjavascriptcore *table) {
    void *library = NULL;
    /* Of GTK 3 with either libsoup, and of GTK 4: all have the same engine. */
    const char *names[] = {
        "libjavascriptcoregtk-4.1.so.0", "libjavascriptcoregtk-6.0.so.1", "libjavascriptcoregtk-4.0.so.18"};
    for (size_t index = 0; !library && index < sizeof names / sizeof names[0]; index++)
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LIBJAVASCRIPTCORE_LOAD(name) \
    if (!(table->name = (__typeof__(table->name))dlsym(library, #name))) return false;
    LIBJAVASCRIPTCORE_LOAD(JSGlobalContextCreate)
    LIBJAVASCRIPTCORE_LOAD(JSContextGetGlobalObject)
    LIBJAVASCRIPTCORE_LOAD(JSStringCreateWithUTF8CString)
    LIBJAVASCRIPTCORE_LOAD(JSStringRelease)
    LIBJAVASCRIPTCORE_LOAD(JSStringGetMaximumUTF8CStringSize)
    LIBJAVASCRIPTCORE_LOAD(JSStringGetUTF8CString)
    LIBJAVASCRIPTCORE_LOAD(JSEvaluateScript)
    LIBJAVASCRIPTCORE_LOAD(JSObjectMakeFunctionWithCallback)
    LIBJAVASCRIPTCORE_LOAD(JSObjectSetProperty)
    LIBJAVASCRIPTCORE_LOAD(JSObjectGetProperty)
    LIBJAVASCRIPTCORE_LOAD(JSObjectCallAsFunction)
    LIBJAVASCRIPTCORE_LOAD(JSValueToStringCopy)
    LIBJAVASCRIPTCORE_LOAD(JSValueMakeString)
    LIBJAVASCRIPTCORE_LOAD(JSValueMakeNull)
    LIBJAVASCRIPTCORE_LOAD(JSValueIsObject)
#undef LIBJAVASCRIPTCORE_LOAD
    return true;
}

/* To be called before the engine is made. The interpreter alone: memory that can be written and executed may be forbidden
   (systemd's MemoryDenyWriteExecute). WebAssembly has no use here. */
static inline void libjavascriptcore_configure(void) {
    setenv("JSC_useJIT", "false", 1);
    setenv("JSC_useWasm", "false", 1);
    setenv("JSC_useConcurrentGC", "false", 1);
    setenv("JSC_numberOfGCMarkers", "1", 1);
}

/* What the signal handler goes by. */
struct libjavascriptcore_watch {
    /* The resident memory that ends the process, in pages. */
    long limit;
    /* Descriptor of /proc/self/statm. */
    int statm;
    /* The last line of output. */
    const char *farewell;
};

static inline struct libjavascriptcore_watch *libjavascriptcore_watch(void) {
    static struct libjavascriptcore_watch watch;
    return &watch;
}

/* Async-signal-safe: each 10 ms of CPU time it reads the resident size from /proc/self/statm ("SIZE RESIDENT …"). */
static inline void libjavascriptcore_measure(int signal) {
    (void)signal;
    const struct libjavascriptcore_watch *watch = libjavascriptcore_watch();
    int saved = errno;
    char text[64];
    ssize_t count = pread(watch->statm, text, sizeof text, 0);
    ssize_t at = 0;
    while (at < count && text[at] != ' ') at++;
    long pages = 0;
    for (at++; at < count && text[at] >= '0' && text[at] <= '9'; at++) pages = pages * 10 + (text[at] - '0');
    if (pages > watch->limit) {
        ssize_t written = write(STDOUT_FILENO, watch->farewell, strlen(watch->farewell));
        (void)written;
        _exit(1);
    }
    errno = saved;
}

/* Ends the process, with a last line of output, when its resident memory exceeds the limit. The engine reserves 70 GB of
   addresses, of which it uses few, so that no limit on addresses can do it. */
static inline bool libjavascriptcore_limit_memory(size_t bytes, const char *farewell) {
    struct libjavascriptcore_watch *watch = libjavascriptcore_watch();
    watch->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    watch->limit = (long)(bytes / (size_t)sysconf(_SC_PAGESIZE));
    watch->farewell = strdup(farewell);
    if (watch->statm < 0 || !watch->farewell) return false;
    struct sigaction action = {.sa_handler = libjavascriptcore_measure, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 10000}, {0, 10000}};
    return sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0;
}
