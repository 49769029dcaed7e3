#pragma once
/* What of OpenSSL are macros, for connections, contexts and sessions. */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
