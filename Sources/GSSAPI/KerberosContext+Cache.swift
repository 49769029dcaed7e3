import CGSSAPI

extension KerberosContext {
    /// An empty cache in memory. To be closed; stays until it is destroyed.
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

    func cacheName(_ cache: krb5_ccache) -> String {
        library.krb5_cc_get_name(handle, cache).map { "MEMORY:\(String(cString: $0))" } ?? ""
    }

    /// Of the ticket in a cache that others are got with; nil without one.
    func validity(of cache: krb5_ccache?, at path: String) throws(GSSAPIError) -> Range<Int>? {
        var cursor: krb5_cc_cursor?
        try require(
            library.krb5_cc_start_seq_get(handle, cache, &cursor), "the ticket cache \(path) cannot be read")
        defer { _ = library.krb5_cc_end_seq_get(handle, cache, &cursor) }
        var longest: Range<Int>?
        var credentials = krb5_creds()
        while library.krb5_cc_next_cred(handle, cache, &cursor, &credentials) == 0 {
            defer { library.krb5_free_cred_contents(handle, &credentials) }
            guard name(of: credentials.server).hasPrefix("krbtgt/") else { continue }
            let validity = credentials.times.validity
            if validity.upperBound > longest?.upperBound ?? 0 { longest = validity }
        }
        return longest
    }
}

extension krb5_ticket_times {
    /// Seconds since 1970. The numbers have 32 bits, and count on beyond 2038 without a sign.
    var validity: Range<Int> {
        let start = Int(UInt32(bitPattern: starttime == 0 ? authtime : starttime))
        return start..<max(start, Int(UInt32(bitPattern: endtime)))
    }
}
