import CGSSAPI

/// The common part of initiator and acceptor: tokens, names and status codes.
struct SecurityTokens {
    let library: kerberos_library

    init() throws(GSSAPIError) { library = try GSSAPILibrary.load() }

    /// Lends bytes in the library's form.
    static func withBuffer<Result>(
        _ bytes: [UInt8], _ body: (UnsafeMutablePointer<gss_buffer_desc>) -> Result
    ) -> Result {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { raw in
            var buffer = gss_buffer_desc(length: raw.count, value: raw.baseAddress)
            return body(&buffer)
        }
    }

    /// Lends a channel's data in the library's form, without addresses, which HTTP does not bind to.
    static func withBindings<Result>(
        _ data: [UInt8]?, _ body: (UnsafeMutablePointer<gss_channel_bindings_struct>?) -> Result
    ) -> Result {
        guard let data else { return body(nil) }
        return withBuffer(data) { buffer in
            var bindings = gss_channel_bindings_struct()
            bindings.application_data = buffer.pointee
            return body(&bindings)
        }
    }

    /// Takes over a buffer of the library; nil if it is empty.
    func take(_ buffer: inout gss_buffer_desc) -> [UInt8]? {
        defer {
            var minor: OM_uint32 = 0
            _ = library.gss_release_buffer(&minor, &buffer)
        }
        guard buffer.length > 0, let value = buffer.value else { return nil }
        return Array(UnsafeRawBufferPointer(start: value, count: buffer.length))
    }

    /// A Kerberos principal's name.
    func name(_ principal: String) throws(GSSAPIError) -> gss_name_t {
        var minor: OM_uint32 = 0
        var name: gss_name_t?
        let major = Self.withBuffer(Array(principal.utf8)) {
            library.gss_import_name(&minor, $0, gssapi_principal_name(), &name)
        }
        guard !gssapi_failed(major), let name else {
            throw GSSAPIError(.unavailable, "\(principal) is not a principal: \(words(major, minor))")
        }
        return name
    }

    func release(name: gss_name_t?) {
        var name = name
        var minor: OM_uint32 = 0
        _ = library.gss_release_name(&minor, &name)
    }

    func release(credential: gss_cred_id_t?) {
        var credential = credential
        var minor: OM_uint32 = 0
        _ = library.gss_release_cred(&minor, &credential)
    }

    func release(context: gss_ctx_id_t?) {
        var context = context
        var minor: OM_uint32 = 0
        _ = library.gss_delete_sec_context(&minor, &context, nil)
    }

    /// The credential of a store with one entry, for SPNEGO with Kerberos only.
    func credential(_ key: String, _ value: String, usage: gss_cred_usage_t) throws(GSSAPIError) -> gss_cred_id_t {
        // With several mechanisms the library accepts a store that only one of the installed ones can use. So Kerberos
        // is checked alone first.
        release(credential: try credential(key, value, of: gssapi_krb5_only(), usage: usage))
        let credential = try credential(key, value, of: gssapi_both(), usage: usage)
        var minor: OM_uint32 = 0
        let filtered = library.gss_set_neg_mechs(&minor, credential, gssapi_krb5_only())
        guard !gssapi_failed(filtered) else {
            release(credential: credential)
            throw GSSAPIError(.unavailable, "SPNEGO cannot be kept to Kerberos: \(words(filtered, minor))")
        }
        return credential
    }

    private func credential(
        _ key: String, _ value: String, of mechanisms: gss_OID_set, usage: gss_cred_usage_t
    ) throws(GSSAPIError) -> gss_cred_id_t {
        var minor: OM_uint32 = 0
        var credential: gss_cred_id_t?
        let major: OM_uint32 = key.withCString { key in
            value.withCString { value in
                var entry = gss_key_value_element_desc(key: key, value: value)
                return withUnsafeMutablePointer(to: &entry) { entry in
                    var store = gss_key_value_set_desc(count: 1, elements: entry)
                    return library.gss_acquire_cred_from(
                        &minor, nil, OM_uint32(GSS_C_INDEFINITE), mechanisms, usage, &store, &credential, nil, nil)
                }
            }
        }
        guard !gssapi_failed(major), let credential else { throw GSSAPIError(.unavailable, words(major, minor)) }
        return credential
    }

    /// The library's text for a failure: the mechanism's, which is more precise, else its own.
    func words(_ major: OM_uint32, _ minor: OM_uint32) -> String {
        let own = display(major, of: GSS_C_GSS_CODE, gssapi_spnego())
        let mechanism = minor == 0 ? nil : display(minor, of: GSS_C_MECH_CODE, gssapi_krb5())
        return mechanism ?? own ?? "error \(major)"
    }

    /// Whether a failure is a clock skew only. SPNEGO renumbers the codes of its mechanisms, so only the text
    /// identifies it.
    ///
    /// - Parameter words: the text from `words(_:_:)`.
    static func isClockSkew(_ words: String) -> Bool { clockWords.contains(words) }

    private static let clockWords: [String] = {
        guard let context = try? KerberosContext() else { return [] }
        return [KRB5KRB_AP_ERR_SKEW, KRB5KRB_AP_ERR_TKT_NYV].map { context.words(for: krb5_error_code($0)) }
    }()

    private func display(_ code: OM_uint32, of kind: Int32, _ mechanism: gss_OID) -> String? {
        var minor: OM_uint32 = 0
        var more: OM_uint32 = 0
        var text = gss_buffer_desc()
        let status = library.gss_display_status(&minor, code, kind, mechanism, &more, &text)
        guard !gssapi_failed(status), let bytes = take(&text) else { return nil }
        return GSSAPIError.sentence(String(decoding: bytes, as: UTF8.self))
    }
}
