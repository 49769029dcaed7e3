#pragma once
/* The low-level hash functions are marked deprecated in favour of EVP, which allocates for every digest. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include "tls.h"
#include "certificates.h"
#include "issuing.h"
