#pragma once
#include <ares.h>

// Macros in one release of c-ares, an enumeration in another: here they are one type.
static const int cares_success = ARES_SUCCESS;
static const int cares_not_found = ARES_ENOTFOUND;
static const int cares_connection_refused = ARES_ECONNREFUSED;
static inline int cares_is_no_such_name(int status) {
    return status == ARES_SUCCESS || status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME;
}
static inline int cares_is_no_answer(int status) { return status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED; }
