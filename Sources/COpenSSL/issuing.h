#pragma once
/* What of OpenSSL are macros, for keys, identities and the making of certificates. */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
