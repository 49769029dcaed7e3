#pragma once
/* The options that newer versions call deprecated are those that every version knows. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* libcurl is loaded when the first ftp URL is asked for: it brings twenty libraries with it, and most never need it. */
#define LIBCURL_FUNCTIONS(F) \
    F(global_init) F(version_info) F(easy_init) F(easy_perform) F(easy_cleanup) F(slist_append) F(slist_free_all)

/* Enumerations up to version 8.15, numbers behind it: Swift sees two types. */
static const long libcurl_ssl_all = CURLUSESSL_ALL, libcurl_ssl_try = CURLUSESSL_TRY, libcurl_netrc_ignored = CURL_NETRC_IGNORED;

struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
    LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
    /* Swift has no type for a variadic function, and none that may travel for a struct with one. */
    void (*setopt)(void);
    void (*getinfo)(void);
};

#define LIBCURL_SETOPT(table) ((CURLcode(*)(CURL *, CURLoption, ...))(table).setopt)
#define LIBCURL_GETINFO(table) ((CURLcode(*)(CURL *, CURLINFO, ...))(table).getinfo)

/* False when the library is not installed, or is not what its header says. */
static inline bool libcurl_load(struct libcurl *table) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LIBCURL_LOAD(name) \
    if (!(table->name = (__typeof__(&curl_##name))dlsym(library, "curl_" #name))) return false;
    LIBCURL_FUNCTIONS(LIBCURL_LOAD)
#undef LIBCURL_LOAD
    if (!(table->setopt = (void (*)(void))dlsym(library, "curl_easy_setopt"))) return false;
    if (!(table->getinfo = (void (*)(void))dlsym(library, "curl_easy_getinfo"))) return false;
    return table->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* One for each type of argument, since the function is variadic. */
static inline bool libcurl_set_number(struct libcurl table, CURL *handle, CURLoption option, long value) {
    return LIBCURL_SETOPT(table)(handle, option, value) == CURLE_OK;
}

static inline bool libcurl_set_size(struct libcurl table, CURL *handle, CURLoption option, curl_off_t value) {
    return LIBCURL_SETOPT(table)(handle, option, value) == CURLE_OK;
}

static inline bool libcurl_set_text(struct libcurl table, CURL *handle, CURLoption option, const char *value) {
    return LIBCURL_SETOPT(table)(handle, option, value) == CURLE_OK;
}

static inline bool libcurl_set_error_text(struct libcurl table, CURL *handle, char *room) {
    return LIBCURL_SETOPT(table)(handle, CURLOPT_ERRORBUFFER, room) == CURLE_OK;
}

static inline bool libcurl_set_addresses(struct libcurl table, CURL *handle, struct curl_slist *entries) {
    return LIBCURL_SETOPT(table)(handle, CURLOPT_RESOLVE, entries) == CURLE_OK;
}

typedef size_t (*libcurl_body)(char *bytes, size_t size, size_t count, void *context);
typedef int (*libcurl_progress)(
    void *context, curl_off_t incoming, curl_off_t received, curl_off_t outgoing, curl_off_t sent);
typedef curl_socket_t (*libcurl_socket)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef CURLcode (*libcurl_secure)(CURL *handle, void *tls, void *context);

static inline bool libcurl_set_callbacks(
    struct libcurl table, CURL *handle, void *context, libcurl_body receive, libcurl_body send,
    libcurl_body reply, libcurl_progress progress, libcurl_socket socket, libcurl_secure secure) {
    return LIBCURL_SETOPT(table)(handle, CURLOPT_WRITEFUNCTION, receive) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_WRITEDATA, context) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_READFUNCTION, send) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_READDATA, context) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_HEADERFUNCTION, reply) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_HEADERDATA, context) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_XFERINFOFUNCTION, progress) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_XFERINFODATA, context) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_OPENSOCKETFUNCTION, socket) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_SSL_CTX_FUNCTION, secure) == CURLE_OK
        && LIBCURL_SETOPT(table)(handle, CURLOPT_SSL_CTX_DATA, context) == CURLE_OK;
}

static inline curl_off_t libcurl_size(struct libcurl table, CURL *handle, CURLINFO info) {
    curl_off_t value = -1;
    return LIBCURL_GETINFO(table)(handle, info, &value) == CURLE_OK ? value : -1;
}

static inline bool libcurl_uses_openssl_3(struct libcurl table) {
    const curl_version_info_data *data = table.version_info(CURLVERSION_NOW);
    return data && data->ssl_version && strncmp(data->ssl_version, "OpenSSL/3", 9) == 0;
}

/* The address may be longer than the field that names it. */
static inline const struct sockaddr *libcurl_address(const struct curl_sockaddr *address) { return &address->addr; }
