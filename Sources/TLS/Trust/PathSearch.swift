import COpenSSL

/// The search for other certification paths (RFC 4158 section 2.4.2), since OpenSSL builds only one.
///
/// A failed path is built again without one of its issuers, if another certificate has the same subject: a cross-signed
/// one that was sent, or a root. A path found in this way is one that the server could have sent alone, or one between
/// roots of the operator.
struct PathSearch {
    private let chain: PresentedChain
    private let anchors: TrustAnchors
    /// The certificates to omit, for each path after the first.
    private var sets: [[Certificate]] = []
    /// The number of `sets` that were tried.
    private var tried = 0
    /// The number of certificates on the paths so far.
    private var verified = 0

    /// The limit of paths for one chain, the first included.
    static let limit = 8
    /// The limit of certificates on all paths together. A hostile server sends long chains, and each certificate has a
    /// signature to verify.
    private static let budget = 48

    init(_ chain: PresentedChain, anchors: TrustAnchors) {
        self.chain = chain
        self.anchors = anchors
    }

    /// The certificates to omit at the next try; nil if there is no other path, or if `limit` paths were built.
    ///
    /// - Parameters:
    ///   - path: the path that failed, the server's own certificate first.
    ///   - omitted: the certificates that were omitted for it.
    mutating func next(after path: [Certificate], without omitted: [Certificate]) -> [Certificate]? {
        verified += path.count
        guard verified < Self.budget else { return nil }
        // Certificates without an issuer are at the end of a path, so the replacements there are tried first.
        for (child, issuer) in zip(path, path.dropFirst()).reversed() {
            let smaller = omitted + [issuer]
            guard !sets.contains(where: { Self.isSame($0, smaller) }), hasTwin(above: child, in: path, smaller) else {
                continue
            }
            sets.append(smaller)
        }
        guard tried < sets.count, tried + 1 < Self.limit else { return nil }
        defer { tried += 1 }
        return sets[tried]
    }

    private func hasTwin(above child: Certificate, in path: [Certificate], _ omitted: [Certificate]) -> Bool {
        let name = X509_get_issuer_name(child.handle)
        let isTwin = { (other: Certificate) in
            X509_NAME_cmp(X509_get_subject_name(other.handle), name) == 0 && !omitted.contains(other)
                && !path.contains(other)
        }
        return chain.others.contains(where: isTwin) || anchors.certificates(named: name).contains(where: isTwin)
    }

    private static func isSame(_ left: [Certificate], _ right: [Certificate]) -> Bool {
        left.count == right.count && left.allSatisfy(right.contains)
    }
}
