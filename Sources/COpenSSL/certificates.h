#pragma once
/* What of OpenSSL are macros, for reading and judging certificates. */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
