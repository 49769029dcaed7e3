#pragma once
#include <dlfcn.h>
#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <krb5.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* MIT Kerberos is loaded when a rule needs it, and not before: most proxies answer other challenges. */
#define GSSAPI_FUNCTIONS(F) \
    F(gss_import_name) F(gss_release_name) F(gss_display_name) F(gss_acquire_cred_from) F(gss_release_cred) \
    F(gss_set_neg_mechs) F(gss_init_sec_context) F(gss_accept_sec_context) F(gss_delete_sec_context) \
    F(gss_release_buffer) F(gss_display_status)
#define KERBEROS_FUNCTIONS(F) \
    F(krb5_init_context) F(krb5_free_context) F(krb5_parse_name) F(krb5_free_principal) F(krb5_unparse_name) \
    F(krb5_free_unparsed_name) F(krb5_principal_compare) F(krb5_kt_resolve) F(krb5_kt_close) \
    F(krb5_kt_start_seq_get) F(krb5_kt_next_entry) F(krb5_kt_end_seq_get) F(krb5_kt_add_entry) \
    F(krb5_free_keytab_entry_contents) F(krb5_cc_resolve) \
    F(krb5_cc_new_unique) F(krb5_cc_get_name) F(krb5_cc_close) F(krb5_cc_destroy) F(krb5_cc_initialize) \
    F(krb5_cc_store_cred) F(krb5_cc_copy_creds) F(krb5_cc_remove_cred) F(krb5_cc_get_principal) \
    F(krb5_cc_start_seq_get) F(krb5_cc_next_cred) F(krb5_cc_end_seq_get) F(krb5_get_init_creds_keytab) \
    F(krb5_cc_get_type) F(krb5_cc_set_default_name) F(krb5_cccol_cursor_new) F(krb5_cccol_cursor_next) \
    F(krb5_cccol_cursor_free) \
    F(krb5_get_init_creds_password) F(krb5_free_cred_contents) F(krb5_free_creds) F(krb5_get_credentials) \
    F(krb5_get_host_realm) F(krb5_free_host_realm) F(krb5_get_error_message) F(krb5_free_error_message)

struct kerberos_library {
#define LIBRARY_MEMBER(name) __typeof__(&name) name;
    GSSAPI_FUNCTIONS(LIBRARY_MEMBER)
    KERBEROS_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/* False when a library is not installed, or is not what its header says. */
static inline bool kerberos_library_load(struct kerberos_library *table) {
    void *library = dlopen("libgssapi_krb5.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LIBRARY_LOAD(name) \
    if (!(table->name = (__typeof__(&name))dlsym(library, #name))) return false;
    GSSAPI_FUNCTIONS(LIBRARY_LOAD)
    library = dlopen("libkrb5.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    KERBEROS_FUNCTIONS(LIBRARY_LOAD)
#undef LIBRARY_LOAD
    return true;
}

/* The library exports these as variables, and a table of functions holds none. */
static inline gss_OID gssapi_spnego(void) {
    static gss_OID_desc oid = {6, (void *)"\x2b\x06\x01\x05\x05\x02"};
    return &oid;
}
static inline gss_OID gssapi_krb5(void) {
    static gss_OID_desc oid = {9, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"};
    return &oid;
}
static inline gss_OID gssapi_principal_name(void) {
    static gss_OID_desc oid = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01"};
    return &oid;
}

/* Mechanisms to ask for: SPNEGO and what it may negotiate. */
static inline gss_OID_set gssapi_both(void) {
    static gss_OID_desc oids[2] = {
        {6, (void *)"\x2b\x06\x01\x05\x05\x02"}, {9, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"}};
    static gss_OID_set_desc set = {2, oids};
    return &set;
}
static inline gss_OID_set gssapi_krb5_only(void) {
    static gss_OID_desc oids[1] = {{9, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"}};
    static gss_OID_set_desc set = {1, oids};
    return &set;
}

/* Macros that Swift does not see. */
static inline bool gssapi_failed(OM_uint32 status) { return GSS_ERROR(status) != 0; }
static inline OM_uint32 gssapi_routine_error(OM_uint32 status) { return GSS_ROUTINE_ERROR(status); }
static inline bool gssapi_continues(OM_uint32 status) { return (status & GSS_S_CONTINUE_NEEDED) != 0; }
enum {
    gssapi_status_bad_mechanism = GSS_S_BAD_MECH,
    gssapi_status_no_credential = GSS_S_NO_CRED,
    gssapi_status_defective_token = GSS_S_DEFECTIVE_TOKEN,
};
