import COpenSSL
import Crypto

/// Issues certificates in the name of the origins that the proxy looks into, to clients that trust it.
public final class CertificateAuthority: Sendable {
    public let identity: Identity
    /// The authority's subject key identifier (RFC 5280 section 4.2.1.2), if it has one.
    private let keyIdentifier: [UInt8]?
    /// What follows a leaf in a handshake: the authority itself where it is no root, and those above it.
    private let intermediates: [Certificate]
    /// One key pair for all leaves of this object. It never leaves the process and signs nothing but handshakes; one
    /// for each name would cost as much as a signature, and a kilobyte, and protect nobody.
    private let leafKey: PrivateKey
    private let leafKeyIdentifier: [UInt8]

    /// How long a leaf is valid, in seconds.
    public static let leafLifetime = 48 * 3600
    /// How far a client's clock may be behind ours, in seconds.
    static let clockSkew = 3600

    /// An authority of somebody's making, or ours of an earlier run.
    ///
    /// - Parameter now: seconds since 1970; one that is not valid then is refused.
    public init(_ identity: Identity, at now: Int) throws(AuthorityError) {
        guard identity.leaf.maySignCertificates else { throw .mayNotSign }
        guard identity.leaf.notAfter > now else { throw .expired }
        guard identity.leaf.notBefore <= now else { throw .notYetValid }
        self.identity = identity
        keyIdentifier = identity.leaf.keyIdentifier
        intermediates = identity.leaf.isItsOwnIssuer ? [] : [identity.leaf] + identity.intermediates
        do throws(IdentityError) {
            leafKey = try .generate()
            leafKeyIdentifier = try leafKey.identifier()
        } catch { throw .identity(error) }
    }

    /// A certificate for that name and nothing else, valid for 48 hours from an hour ago on, but no longer than the
    /// origin's own or the authority's. It takes half a millisecond: not on a loop.
    ///
    /// - Parameters:
    ///   - origin: whose certificate the origin showed and somebody found good. Its common name is shown to people; one
    ///     that has expired, and was forgiven, does not shorten the leaf.
    ///   - now: seconds since 1970.
    public func mint(
        for name: ServerName, like origin: Certificate? = nil, at now: Int
    ) throws(AuthorityError) -> Identity {
        guard name.isFitForCertificates else { throw .unusableName(name) }
        var notAfter = min(now + Self.leafLifetime, identity.leaf.notAfter)
        if let origin, origin.notAfter > now { notAfter = min(notAfter, origin.notAfter) }
        let subject = subject(for: name, like: origin)
        let draft = CertificateDraft(
            subject: subject, issuer: identity.leaf, publicKey: leafKey,
            notBefore: max(now - Self.clockSkew, identity.leaf.notBefore), notAfter: notAfter,
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage([.digitalSignature]), .serverAuthentication,
                .subjectKeyIdentifier(leafKeyIdentifier),
                .subjectAlternativeName(name, isOnlyName: subject == .none),
            ] + (keyIdentifier.map { [.authorityKeyIdentifier($0)] } ?? []))
        guard let leaf = draft.signed(by: identity.key) else { throw .outOfMemory }
        guard leaf.liesWithinBounds(of: identity.leaf) else { throw .outOfBounds(name) }
        return Identity(leaf: leaf, intermediates: intermediates, key: leafKey)
    }

    /// An address has no common name: where there is no DNS name, OpenSSL and GnuTLS hold a common name for one, and
    /// against the name constraints.
    private func subject(for name: ServerName, like origin: Certificate?) -> CertificateDraft.Subject {
        switch name {
        case .address(let address): return .organization("\(address)")
        case .host(let host):
            let text = origin?.commonName ?? host
            return text.utf8.count <= CertificateDraft.nameLimit ? .commonName(text) : .none
        }
    }
}
