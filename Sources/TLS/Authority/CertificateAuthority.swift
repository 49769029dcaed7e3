import Bytes
import COpenSSL

/// A CA that issues certificates for intercepted origins, to clients that trust it.
public final class CertificateAuthority: Sendable {
    public let identity: Identity
    /// The CA's subject key identifier (RFC 5280 section 4.2.1.2), if it has one.
    private let keyIdentifier: [UInt8]?
    /// The certificates sent after a leaf in a handshake: the CA's own if it is no root, and those above it.
    private let intermediates: [Certificate]
    /// The one key pair for all leaves of this object. It never leaves the process and signs nothing but handshakes.
    /// One key for each name would cost a signature and a kilobyte, and would not be safer.
    private let leafKey: PrivateKey
    private let leafKeyIdentifier: [UInt8]

    /// The lifetime of a leaf.
    public static let leafLifetime: Milliseconds = .seconds(48 * 3600)
    /// The tolerated lag of a client's clock.
    static let clockSkew: Milliseconds = .seconds(3600)

    /// Takes a CA that a user made, or that an earlier run of the proxy made.
    ///
    /// - Parameter now: a CA that is not valid at that time is refused.
    public init(_ identity: Identity, at now: WallTime) throws(Failure) {
        guard identity.leaf.maySignCertificates else { throw .mayNotSign }
        guard identity.leaf.notAfter > now else { throw .expired }
        guard identity.leaf.notBefore <= now else { throw .notYetValid }
        self.identity = identity
        keyIdentifier = identity.leaf.keyIdentifier
        intermediates = identity.leaf.isItsOwnIssuer ? [] : [identity.leaf] + identity.intermediates
        do throws(Identity.Failure) {
            leafKey = try .generate()
            leafKeyIdentifier = try leafKey.identifier()
        } catch { throw .identity(error) }
    }

    /// Issues a certificate for that name only. It is valid from an hour ago for 48 hours, but not longer than the
    /// origin's certificate or the CA's. This takes half a millisecond: do not call it on a loop.
    ///
    /// - Parameter origin: the certificate that the origin showed and that was accepted. Its common name is shown to
    ///   people. If it has expired, and that was forgiven, it does not shorten the leaf.
    public func mint(
        for name: ServerName, like origin: Certificate? = nil, at now: WallTime
    ) throws(Failure) -> Identity {
        guard name.isFitForCertificates else { throw .unusableName(name) }
        var notAfter = min(now + Self.leafLifetime, identity.leaf.notAfter)
        if let origin, origin.notAfter > now { notAfter = min(notAfter, origin.notAfter) }
        let subject = subject(for: name, like: origin)
        let draft = Certificate.Draft(
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

    /// The subject of a leaf. An address gets no common name: without a DNS name in the certificate, OpenSSL and GnuTLS
    /// treat a common name as one, and check it against the name constraints.
    private func subject(for name: ServerName, like origin: Certificate?) -> Certificate.Draft.Subject {
        switch name {
        case .address, .workload: return .organization("\(name)")
        case .host(let host):
            let text = origin?.commonName ?? host
            return text.utf8.count <= Certificate.Draft.nameLimit ? .commonName(text) : .none
        }
    }

    /// The lifetime of a CA that the proxy makes: five years. Users need not install a new one every year,
    /// and a copied key does not work for ever.
    public static let lifetime: Milliseconds = .seconds(5 * 365 * 86400)

    /// Creates a CA with a new key (ECDSA, P-256), for servers' certificates only.
    ///
    /// - Parameters:
    ///   - host: the machine that owns the CA, so that a person who finds it in a trust store knows its origin.
    ///   - names: the only names that the CA may issue certificates for; empty: no constraint.
    public static func make(
        host: String, names: [NameConstraint] = [], at now: WallTime
    ) throws(Failure) -> CertificateAuthority {
        try CertificateAuthority(selfSigned(host: host, names: names, at: now), at: now)
    }

    /// Whether the CA is constrained to exactly these names.
    public func speaks(for names: [NameConstraint]) -> Bool {
        identity.leaf.content(of: NID_name_constraints)
            == (names.isEmpty ? nil : Certificate.Extension.nameConstraints(names).content)
    }

    private static func selfSigned(
        host: String, names: [NameConstraint], at now: WallTime
    ) throws(Failure) -> Identity {
        do throws(Identity.Failure) {
            let key = try PrivateKey.generate()
            let identifier = try key.identifier()
            var extensions: [Certificate.Extension] = [
                .basicConstraints(isAuthority: true), .keyUsage([.keyCertSign, .cRLSign]), .serverAuthentication,
                .subjectKeyIdentifier(identifier),
            ]
            if !names.isEmpty { extensions.append(.nameConstraints(names)) }
            let draft = Certificate.Draft(
                subject: .commonName(commonName(host: host, day: Certificate.Time.date(now), identifier: identifier)),
                issuer: nil,
                publicKey: key,
                notBefore: now - clockSkew, notAfter: now + lifetime, extensions: extensions)
            guard let certificate = draft.signed(by: key) else { throw .outOfMemory }
            return Identity(leaf: certificate, intermediates: [], key: key)
        } catch { throw .identity(error) }
    }

    /// `attache on HOST DAY KEY`. The key's first digits give two CAs of one day different names, as RFC 5280 requires
    /// of issuers.
    private static func commonName(host: String, day: String, identifier: [UInt8]) -> String {
        let (start, end) = ("attache on ", " \(day) \(Hex.encode(Array(identifier.prefix(4))))")
        let printable = host.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        let room = Certificate.Draft.nameLimit - start.utf8.count - end.utf8.count
        return start + String(String.UnicodeScalarView(printable)).prefix(max(0, room)) + end
    }

    /// The reason why a CA cannot be used, or cannot issue a certificate for a name.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case identity(Identity.Failure)
        /// The CA's basic constraints or key usage do not allow it to sign certificates.
        case mayNotSign
        case expired
        case notYetValid
        /// The CA's name constraints exclude the name.
        case outOfBounds(ServerName)
        /// No certificate can be issued for the name.
        case unusableName(ServerName)
        /// OpenSSL has no memory.
        case outOfMemory

        public var description: String {
            switch self {
            case .identity(let error): "\(error)"
            case .mayNotSign: "the certificate is not an authority's: it may not sign others"
            case .expired: "the CA certificate has expired: run 'attache authority renew'"
            case .notYetValid: "the CA certificate is not valid yet"
            case .outOfBounds(let name): "the CA's name constraints do not allow \(name)"
            case .unusableName(let name): "no certificate can be made for the name '\(name)'"
            case .outOfMemory: "OpenSSL has no memory left"
            }
        }
    }
}
