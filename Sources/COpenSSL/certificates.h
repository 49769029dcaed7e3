#pragma once
/* What of OpenSSL are macros, for reading and judging certificates. */
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* Swift has no name for the union inside. */
static inline ASN1_STRING *attache_general_name_text(const GENERAL_NAME *name) {
    switch (name->type) {
    case GEN_EMAIL:
    case GEN_DNS:
    case GEN_URI:
        return name->d.ia5;
    case GEN_IPADD:
        return name->d.iPAddress;
    default:
        return NULL;
    }
}

static inline X509_NAME *attache_general_name_directory(const GENERAL_NAME *name) {
    return name->type == GEN_DIRNAME ? name->d.directoryName : NULL;
}

/* The bits of an RSA key's public exponent; 0 for other keys. */
static inline int attache_exponent_bits(const EVP_PKEY *key) {
    BIGNUM *exponent = NULL;
    int bits = 0;
    if ((EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "RSA-PSS")) &&
        EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1) {
        bits = BN_num_bits(exponent);
        BN_free(exponent);
    }
    return bits;
}

/* RFC 4514 text: letters of any script as they are or, where a value is not what its type says, all in hexadecimal. */
static inline int attache_name_print(BIO *out, const X509_NAME *name, int dumped) {
    unsigned long flags = dumped ? XN_FLAG_RFC2253 | ASN1_STRFLGS_DUMP_ALL : XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
    return X509_NAME_print_ex(out, name, 0, flags) >= 0;
}
