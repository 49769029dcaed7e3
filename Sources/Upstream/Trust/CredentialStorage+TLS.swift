import Authentication
import Credentials
import Model
import TLS

extension ProtectionSpace {
    /// The space of a server's requests for a certificate.
    public init(clientCertificateOf origin: Origin) {
        self.init(origin: origin, realm: nil, authenticationMethod: .clientCertificate)
    }

    /// The space of a server's own certificate: of whatever speaks TLS at that address.
    public init(trustOf host: String, port: UInt16) {
        self.init(
            origin: Origin(host: host, port: port, protocol: .https), realm: nil, authenticationMethod: .serverTrust)
    }
}

extension CredentialStorage {
    /// The exceptions for keys of the server at that address.
    public func trustExceptions(for host: String, port: UInt16) -> [TrustException] {
        credentials(for: ProtectionSpace(trustOf: host, port: port)).values.compactMap(\.trustException)
    }

    /// The certificate for a server that accepts these issuers; none: any. The space's default goes before others, and
    /// answers where none is of these issuers: whoever stored it knows the server.
    func storedIdentity(for origin: Origin, acceptedBy issuers: [DistinguishedName]) -> StoredIdentity? {
        let space = ProtectionSpace(clientCertificateOf: origin)
        let usual = defaultCredential(for: space).flatMap(StoredIdentity.init)
        if issuers.isEmpty || usual?.identity.isIssued(byOneOf: issuers) == true { return usual }
        let all = credentials(for: space).sorted { $0.key < $1.key }.compactMap { StoredIdentity($0.value) }
        return all.first { $0.identity.isIssued(byOneOf: issuers) } ?? usual
    }
}

extension [TrustException] {
    /// Those that hold on a day, the one that holds longest first.
    public func holding(on today: Day) -> [TrustException] {
        filter { today <= $0.until }.sorted { $0.until > $1.until }
    }
}

/// A certificate with its key, and the name of its credential.
struct StoredIdentity {
    let name: String
    let identity: Identity

    init?(_ credential: Credential) {
        guard let identity = credential.identity as? Identity else { return nil }
        self.identity = identity
        name = credential.version.name
    }
}

extension Identity {
    func isIssued(byOneOf issuers: [DistinguishedName]) -> Bool {
        ([leaf] + intermediates).contains { certificate in
            certificate.issuer.map { issuers.contains($0) } ?? false
        }
    }
}
