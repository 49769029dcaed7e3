#pragma once
/* What of OpenSSL are macros, for connections, contexts and sessions. */
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

/* Contexts. */

/* Buffers go while a connection rests; what was refused may be offered again from another place. */
static inline void tls_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
}

/* A record costs one call of the transport, not one for its header and one for its body. */
static inline void tls_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }

static inline bool tls_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return SSL_CTX_set_min_proto_version(context, minimum) == 1 && SSL_CTX_set_max_proto_version(context, maximum) == 1;
}

static inline bool tls_set_groups(SSL_CTX *context, const char *names) {
    return SSL_CTX_set1_groups_list(context, names) == 1;
}

static inline void tls_request_staple(SSL_CTX *context) {
    SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
}

/* What a client keeps is kept by our own cache. */
static inline void tls_keep_no_sessions_as_client(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/* What a server keeps is in its tickets, which the client keeps. */
static inline void tls_keep_no_sessions_as_server(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static const uint64_t tls_option_ignore_end = SSL_OP_IGNORE_UNEXPECTED_EOF;
static const uint64_t tls_option_no_compression = SSL_OP_NO_COMPRESSION;
static const uint64_t tls_option_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t tls_option_no_tickets = SSL_OP_NO_TICKET;
static const uint64_t tls_option_server_preference = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t tls_option_prioritize_chacha = SSL_OP_PRIORITIZE_CHACHA;
static const uint64_t tls_option_legacy_server = SSL_OP_LEGACY_SERVER_CONNECT;

/* Connections. */

static inline bool tls_set_server_name(SSL *connection, const char *name) {
    return SSL_set_tlsext_host_name(connection, name) == 1;
}

static inline const char *tls_server_name(SSL *connection) {
    return SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
}

static inline void tls_set_owner(SSL *connection, void *owner) { SSL_set_app_data(connection, owner); }
static inline void *tls_owner(const SSL *connection) { return SSL_get_app_data(connection); }

static inline SSL *tls_connection_of(X509_STORE_CTX *evaluation) {
    return (SSL *)X509_STORE_CTX_get_ex_data(evaluation, SSL_get_ex_data_X509_STORE_CTX_idx());
}

static inline bool tls_pause_verification(SSL *connection) { return SSL_set_retry_verify(connection); }

static inline long tls_staple(SSL *connection, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(connection, response);
}

static inline bool tls_use_identity(SSL *connection, X509 *leaf, EVP_PKEY *key, STACK_OF(X509) *issuers) {
    return SSL_use_cert_and_key(connection, leaf, key, issuers, 1) == 1;
}

static inline bool tls_was_resumed(SSL *connection) { return SSL_session_reused(connection) == 1; }

/* Whether the server's key is to decrypt, rather than to sign: the RSA exchange of TLS 1.2 and older. */
static inline bool tls_encrypts_key(SSL *connection) {
    const SSL_CIPHER *cipher = SSL_get_pending_cipher(connection);
    return cipher != NULL && SSL_CIPHER_get_kx_nid(cipher) == NID_kx_rsa;
}

/* Whether HTTP/2 may be spoken with the chosen cipher (RFC 9113 section 9.2.2): ephemeral keys and AEAD. */
static inline bool tls_permits_http2(const SSL *connection) {
    if (SSL_version(connection) >= TLS1_3_VERSION) return true;
    const SSL_CIPHER *cipher = SSL_get_pending_cipher(connection);
    return cipher != NULL && SSL_CIPHER_is_aead(cipher) && SSL_CIPHER_get_kx_nid(cipher) != NID_kx_rsa;
}

/* Tickets. */

static const int tls_ticket_secret_length = 64;
static const int tls_ticket_vector_length = 16;

static inline bool tls_key_ticket(EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char *secret,
                                  const unsigned char *vector, bool sealing) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(secret + 32), 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters) == 1 &&
           EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, secret, vector, sealing) == 1;
}

/* Errors. */

/* Empties this thread's queue, as has to be done before every call whose failure is asked about: a look costs a third of
   the emptying, and nearly always there is nothing. */
static inline void tls_clear_errors(void) {
    if (ERR_peek_error() != 0) ERR_clear_error();
}

static inline int tls_library(unsigned long error) { return ERR_GET_LIB(error); }
static inline int tls_reason(unsigned long error) { return ERR_GET_REASON(error); }

/* Stacks. */

static inline STACK_OF(X509_NAME) *tls_new_names(void) { return sk_X509_NAME_new_null(); }
static inline bool tls_append_name(STACK_OF(X509_NAME) *names, X509_NAME *name) {
    return sk_X509_NAME_push(names, name) > 0;
}

/* A transport of ours as a BIO. */

static inline void tls_would_block_reading(BIO *bio) { BIO_set_retry_read(bio); }
static inline void tls_would_block_writing(BIO *bio) { BIO_set_retry_write(bio); }
static inline void tls_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
