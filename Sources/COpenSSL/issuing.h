#pragma once
/* What of OpenSSL are macros or take variable arguments, for keys, identities and the making of certificates. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#if __has_include(<openssl/engine.h>)
#include <openssl/engine.h>
#endif

static inline EVP_PKEY *attache_generate_p256(void) { return EVP_EC_gen("P-256"); }

static inline bool attache_lacks_algorithm(unsigned long error) {
    switch (ERR_GET_REASON(error)) {
    case ERR_R_UNSUPPORTED: return true;
    case EVP_R_UNSUPPORTED_ALGORITHM:
    case EVP_R_UNSUPPORTED_CIPHER:
    case EVP_R_UNKNOWN_PBE_ALGORITHM: return ERR_GET_LIB(error) == ERR_LIB_EVP;
    default: return false;
    }
}

/* The engine `pkcs11` of libp11. NULL: it is not installed, or OpenSSL has no engines, as from version 4 on. The engine keeps `ui`
   for the rest of the process: it asks for a PIN by it where no other is given. */
static inline void *attache_token_engine(UI_METHOD *ui) {
#if __has_include(<openssl/engine.h>) && !defined(OPENSSL_NO_ENGINE)
    ENGINE_load_dynamic();
    ENGINE *engine = ENGINE_by_id("pkcs11");
    if (engine == NULL) return NULL;
    /* Without QUIET it writes to standard error. */
    if (ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 0) == 1 &&
        ENGINE_ctrl_cmd(engine, "SET_USER_INTERFACE", 0, ui, NULL, 0) == 1 && ENGINE_init(engine) == 1)
        return engine;
    ENGINE_free(engine);
#endif
    return NULL;
}

static inline EVP_PKEY *attache_token_key(void *engine, const char *uri, UI_METHOD *ui, void *context) {
#if __has_include(<openssl/engine.h>) && !defined(OPENSSL_NO_ENGINE)
    return ENGINE_load_private_key((ENGINE *)engine, uri, ui, context);
#else
    return NULL;
#endif
}

static inline X509 *attache_token_certificate(void *engine, const char *uri) {
    struct {
        const char *uri;
        X509 *certificate;
    } search = {uri, NULL};
#if __has_include(<openssl/engine.h>) && !defined(OPENSSL_NO_ENGINE)
    ENGINE_ctrl_cmd((ENGINE *)engine, "LOAD_CERT_CTRL", 0, &search, NULL, 0);
#endif
    return search.certificate;
}

/* The return value of PKCS#11 in an error that a token's library caused; 0 for other errors. */
static inline unsigned long attache_token_error(unsigned long error) {
    return ERR_GET_LIB(error) >= ERR_LIB_USER ? ERR_GET_REASON(error) : 0;
}
static inline bool attache_is_prompt_error(unsigned long error) { return ERR_GET_LIB(error) == ERR_LIB_UI; }
