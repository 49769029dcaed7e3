import Authentication
import Credentials
import IO
import Model

extension ProtectionSpace {
    /// Creates the space of a server's requests for a certificate.
    public init(clientCertificateOf origin: Origin) {
        self.init(origin: origin, realm: nil, authenticationMethod: .clientCertificate)
    }

    /// Creates the space of a server's own certificate: one space for all TLS at that host and port.
    public init(trustOf host: String, port: UInt16) {
        self.init(
            origin: Origin(host: host, port: port, protocol: .https), realm: nil, authenticationMethod: .serverTrust)
    }
}

extension StoredCredentials {
    /// The stored exceptions for keys of the server at that host and port.
    public func trustExceptions(for host: String, port: UInt16) -> [TrustException] {
        credentials(for: ProtectionSpace(trustOf: host, port: port)).values.compactMap(\.trustException)
    }
}

extension [TrustException] {
    /// The exceptions that are valid on a day, the one that expires last first.
    public func holding(on today: Day) -> [TrustException] {
        filter { today <= $0.until }.sorted { $0.until > $1.until }
    }
}

extension Day {
    public static var today: Day { Day(of: SystemClock.wallTime) }
}
