import COpenSSL
import Crypto

/// Issues certificates in the name of the origins that the proxy looks into, to clients that trust it.
public final class CertificateAuthority: Sendable {
    public let identity: Identity
    /// The authority's subject key identifier (RFC 5280 section 4.2.1.2), if it has one.
    private let keyIdentifier: [UInt8]?
    /// The certificates behind a leaf in a handshake: the authority itself where it is no root, and those above it.
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
    ///   - origin: the certificate that the origin showed and that was found good. Its common name is shown to people;
    ///     one that has expired, and was forgiven, does not shorten the leaf.
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

extension CertificateAuthority {
    /// How long an authority that we make is valid, in seconds: five years. Long enough that nobody hands out a new one
    /// every year, short enough that a key that was copied unseen does not open everything for ever.
    public static let lifetime = 5 * 365 * 86400

    /// A new authority with a new key (ECDSA, P-256), for servers' certificates only.
    ///
    /// - Parameters:
    ///   - host: its owner, so that a person who meets it in a trust store knows where it came from.
    ///   - names: all that it may ever speak for; empty: no constraint.
    ///   - now: seconds since 1970.
    public static func make(
        host: String, names: [NameConstraint] = [], at now: Int
    ) throws(AuthorityError) -> CertificateAuthority {
        try CertificateAuthority(selfSigned(host: host, names: names, at: now), at: now)
    }

    /// Whether the authority is constrained to just these names.
    public func speaks(for names: [NameConstraint]) -> Bool {
        identity.leaf.content(of: NID_name_constraints)
            == (names.isEmpty ? nil : CertificateExtension.nameConstraints(names).content)
    }

    private static func selfSigned(
        host: String, names: [NameConstraint], at now: Int
    ) throws(AuthorityError) -> Identity {
        do throws(IdentityError) {
            let key = try PrivateKey.generate()
            let identifier = try key.identifier()
            var extensions: [CertificateExtension] = [
                .basicConstraints(isAuthority: true), .keyUsage([.keyCertSign, .cRLSign]), .serverAuthentication,
                .subjectKeyIdentifier(identifier),
            ]
            if !names.isEmpty { extensions.append(.nameConstraints(names)) }
            let draft = CertificateDraft(
                subject: .commonName(commonName(host: host, day: CertificateTime.date(now), identifier: identifier)),
                issuer: nil,
                publicKey: key,
                notBefore: now - clockSkew, notAfter: now + lifetime, extensions: extensions)
            guard let certificate = draft.signed(by: key) else { throw .outOfMemory }
            return Identity(leaf: certificate, intermediates: [], key: key)
        } catch { throw .identity(error) }
    }

    /// `attache on HOST DAY KEY`: the key's first digits make two of one day different names, as issuers must be.
    private static func commonName(host: String, day: String, identifier: [UInt8]) -> String {
        let digits = identifier.prefix(4).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let (start, end) = ("attache on ", " \(day) \(digits)")
        let printable = host.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
        let room = CertificateDraft.nameLimit - start.utf8.count - end.utf8.count
        return start + String(String.UnicodeScalarView(printable)).prefix(max(0, room)) + end
    }
}

/// Why there is no authority, or why it does not speak for a name.
public enum AuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
    case identity(IdentityError)
    /// Its basic constraints or its key usage do not let it sign certificates.
    case mayNotSign
    case expired
    case notYetValid
    /// Its name constraints exclude the name.
    case outOfBounds(ServerName)
    /// No certificate can be made out to it.
    case unusableName(ServerName)
    /// Nothing that anybody outside did.
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
