/// The certificate of a server: paths of files.
struct ServerIdentity: Sendable {
    let leaf: IssuedCertificate
    /// The certificates as they are sent, the leaf first.
    let chain: String
    var staple: String?

    /// - Parameters:
    ///   - sent: the certificates behind the leaf, if not those which made it.
    init(_ leaf: IssuedCertificate, sent: [String]? = nil, staple: String? = nil) throws {
        self.leaf = leaf
        self.staple = staple
        chain = try IssuedCertificate.bundle([leaf.certificate] + (sent ?? leaf.intermediates))
    }
}
