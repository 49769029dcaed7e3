import Authentication
import Credentials
import IO
import Model

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
}

extension [TrustException] {
    /// Those that hold on a day, the one that holds longest first.
    public func holding(on today: Day) -> [TrustException] {
        filter { today <= $0.until }.sorted { $0.until > $1.until }
    }
}

extension Day {
    public static var today: Day { Day(epochSeconds: SystemClock.epochMilliseconds / 1000) }
}
