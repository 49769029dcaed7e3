import COpenSSL

/// Whether an authority excludes a host (RFC 5280 section 4.2.1.10) that a wildcard would let in: OpenSSL compares
/// `*.example.com` itself with the excluded names, and not what it stands for.
enum ExcludedHost {
    static func isExcluded(_ host: String, by authority: Certificate) -> Bool {
        guard X509_get_ext_by_NID(authority.handle, NID_name_constraints, -1) >= 0,
            let decoded = X509_get_ext_d2i(authority.handle, NID_name_constraints, nil, nil)
        else { return false }
        let constraints = decoded.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        let subtrees = constraints.pointee.excludedSubtrees
        return (0..<max(0, OPENSSL_sk_num(subtrees))).contains { index in
            guard let subtree = OPENSSL_sk_value(subtrees, index)?.assumingMemoryBound(to: GENERAL_SUBTREE.self),
                let base = subtree.pointee.base, case .dns(let domain) = SubjectAlternativeName(base)
            else { return false }
            return host == domain || host.hasSuffix(domain.hasPrefix(".") ? domain : ".\(domain)")
        }
    }
}
