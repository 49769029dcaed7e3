import Bytes
import CGSSAPI
import Glibc

/// The context of libkrb5 for one operation. Threads must not share it, and it is cheap to create. It reads the current
/// configuration of the system, or of `KRB5_CONFIG`.
final class KerberosContext {
    let library: kerberos_library
    let handle: krb5_context

    init() throws(GSSAPIError) {
        library = try GSSAPILibrary.load()
        var made: krb5_context?
        let code = library.krb5_init_context(&made)
        guard code == 0, let made else {
            throw GSSAPIError(.unavailable, "the Kerberos configuration cannot be used (error \(code))")
        }
        handle = made
    }

    deinit { library.krb5_free_context(handle) }

    /// - Parameter deed: the beginning of the sentence; the library's text follows.
    func require(_ code: krb5_error_code, _ deed: @autoclosure () -> String) throws(GSSAPIError) {
        guard code == 0 else { throw GSSAPIError(.unavailable, "\(deed()): \(words(for: code))") }
    }

    /// The library's text, with a small first letter and without a period, to follow a colon.
    func words(for code: krb5_error_code) -> String {
        guard let message = library.krb5_get_error_message(handle, code) else { return "error \(code)" }
        defer { library.krb5_free_error_message(handle, message) }
        return GSSAPIError.sentence(String(cString: message))
    }

    func principal(_ name: String) throws(GSSAPIError) -> krb5_principal {
        var principal: krb5_principal?
        // The library would stop at the zero byte.
        if name.utf8.contains(0) { throw GSSAPIError(.unavailable, "a name with a zero byte is not a principal") }
        try require(library.krb5_parse_name(handle, name, &principal), "\(name) is not a principal")
        guard let principal else { throw GSSAPIError(.unavailable, "\(name) is not a principal") }
        return principal
    }

    func name(of principal: krb5_const_principal?) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard library.krb5_unparse_name(handle, principal, &text) == 0, let text else { return "" }
        defer { library.krb5_free_unparsed_name(handle, text) }
        return String(cString: text)
    }

    /// The realm of a host in the configuration; empty: the KDC finds out (RFC 6806).
    func realm(ofHost host: String) -> String {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard library.krb5_get_host_realm(handle, host, &list) == 0, let list else { return "" }
        defer { _ = library.krb5_free_host_realm(handle, list) }
        return list[0].map { String(cString: $0) } ?? ""
    }
}

extension GSSAPIError {
    /// A library's message as the end of a sentence. It may contain text of a KDC that is not authenticated.
    static func sentence(_ message: String) -> String {
        let shown = message.unicodeScalars.prefix(300).map { $0.isInvisible ? " " : $0 }
        var text = String(String.UnicodeScalarView(shown))[...]
        while let last = text.last, last == "." || last == " " { text.removeLast() }
        guard let first = text.first, text.dropFirst().first.map({ !$0.isUppercase }) ?? true else {
            return String(text)
        }
        return first.lowercased() + text.dropFirst()
    }
}

extension KerberosContext {
    /// Creates an empty cache in memory. Close it; it stays until it is destroyed.
    func makeCache(for client: krb5_principal) throws(GSSAPIError) -> krb5_ccache {
        var cache: krb5_ccache?
        try require(library.krb5_cc_new_unique(handle, "MEMORY", nil, &cache), "no ticket can be kept")
        guard let cache else { throw GSSAPIError(.unavailable, "no ticket can be kept") }
        let code = library.krb5_cc_initialize(handle, cache, client)
        guard code == 0 else {
            _ = library.krb5_cc_destroy(handle, cache)
            throw GSSAPIError(.unavailable, "no ticket can be kept: \(words(for: code))")
        }
        return cache
    }

    /// Opens the cache of a client: the cache with this name or, if that is another principal's, the client's one in the same
    /// collection (types DIR, KCM and KEYRING). Close it.
    ///
    /// - Parameter path: the cache's name in errors.
    func cache(
        of client: krb5_principal, named name: String, shownAs path: String
    ) throws(GSSAPIError) -> krb5_ccache? {
        // The library would make the directory.
        if let folder = Self.folder(ofCache: name), access(folder, F_OK) != 0 {
            throw GSSAPIError(.unavailable, "the ticket cache \(path) cannot be read: there is no directory \(folder)")
        }
        var cache: krb5_ccache?
        try require(library.krb5_cc_resolve(handle, name, &cache), "the ticket cache \(path)")
        var owner: krb5_principal?
        let code = library.krb5_cc_get_principal(handle, cache, &owner)
        defer { library.krb5_free_principal(handle, owner) }
        if code == 0, library.krb5_principal_compare(handle, client, owner) != 0 { return cache }
        defer { _ = library.krb5_cc_close(handle, cache) }
        if let found = collectedCache(of: client, with: name, ofType: library.krb5_cc_get_type(handle, cache)) {
            return found
        }
        try require(code, "the ticket cache \(path) cannot be read")
        throw GSSAPIError(
            .unavailable, "the ticket cache \(path) is \(self.name(of: owner))'s, not \(self.name(of: client))'s")
    }

    /// The directory of a cache of the type DIR: `DIR:FOLDER`, or `DIR::FOLDER/FILE`.
    private static func folder(ofCache name: String) -> String? {
        guard name.hasPrefix("DIR:") else { return nil }
        let rest = name.dropFirst(4)
        guard rest.hasPrefix(":") else { return String(rest) }
        return rest.lastIndex(of: "/").map { String(rest[..<$0].dropFirst()) }
    }

    /// The cache of a client in the collection that a cache belongs to; nil if the client has none there.
    private func collectedCache(
        of client: krb5_principal, with name: String, ofType type: UnsafePointer<CChar>?
    ) -> krb5_ccache? {
        var cursor: krb5_cccol_cursor?
        guard let type, library.krb5_cc_set_default_name(handle, name) == 0,
            library.krb5_cccol_cursor_new(handle, &cursor) == 0
        else { return nil }
        defer { _ = library.krb5_cccol_cursor_free(handle, &cursor) }
        var found: krb5_ccache?
        while library.krb5_cccol_cursor_next(handle, cursor, &found) == 0, let cache = found {
            var owner: krb5_principal?
            // This process's own caches, of the type MEMORY, are among them.
            if let other = library.krb5_cc_get_type(handle, cache), strcmp(other, type) == 0,
                library.krb5_cc_get_principal(handle, cache, &owner) == 0
            {
                defer { library.krb5_free_principal(handle, owner) }
                if library.krb5_principal_compare(handle, client, owner) != 0 { return cache }
            }
            _ = library.krb5_cc_close(handle, cache)
        }
        return nil
    }

    func cacheName(_ cache: krb5_ccache) -> String {
        library.krb5_cc_get_name(handle, cache).map { "MEMORY:\(String(cString: $0))" } ?? ""
    }

    /// The validity of a cache's ticket-granting ticket; nil without one.
    func validity(of cache: krb5_ccache?, at path: String) throws(GSSAPIError) -> Range<WallTime>? {
        var cursor: krb5_cc_cursor?
        try require(
            library.krb5_cc_start_seq_get(handle, cache, &cursor), "the ticket cache \(path) cannot be read")
        defer { _ = library.krb5_cc_end_seq_get(handle, cache, &cursor) }
        var longest: Range<WallTime>?
        var credentials = krb5_creds()
        while library.krb5_cc_next_cred(handle, cache, &cursor, &credentials) == 0 {
            defer { library.krb5_free_cred_contents(handle, &credentials) }
            guard name(of: credentials.server).hasPrefix("krbtgt/") else { continue }
            let validity = credentials.times.validity
            if validity.upperBound > longest?.upperBound ?? 0 { longest = validity }
        }
        return longest
    }

    /// The error for a request to a KDC, of any kind, that failed with this code.
    func failure(_ code: krb5_error_code, principal: String) -> GSSAPIError {
        let realm = principal.lastIndex(of: "@").map { String(principal[principal.index(after: $0)...]) } ?? principal
        return switch Int(code) {
        case Int(KRB5_KDC_UNREACH): GSSAPIError(.unavailable, "no KDC of \(realm) can be reached")
        case Int(KRB5_REALM_UNKNOWN), Int(KRB5_REALM_CANT_RESOLVE):
            GSSAPIError(.unavailable, "the Kerberos configuration has no KDC of \(realm)")
        case Int(KRB5KRB_AP_ERR_SKEW), Int(KRB5_KDCREP_SKEW):
            GSSAPIError(
                .clockSkew,
                "the clocks of this machine and of the KDC of \(realm) differ by more than Kerberos allows (5 minutes)")
        case Int(KRB5KRB_AP_ERR_TKT_NYV):
            GSSAPIError(.clockSkew, "a ticket is not valid yet: the clocks of this machine and of the KDC differ")
        default: GSSAPIError(.unavailable, "Kerberos gave no ticket: \(words(for: code))")
        }
    }
}

extension krb5_ticket_times {
    /// The validity. The numbers are unsigned 32-bit, so they continue beyond 2038.
    var validity: Range<WallTime> {
        let start = WallTime(seconds: Int(UInt32(bitPattern: starttime == 0 ? authtime : starttime)))
        return start..<max(start, WallTime(seconds: Int(UInt32(bitPattern: endtime))))
    }
}
