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
