import Foundation

/// TLS before an origin of the tests, by an nginx of its own.
struct TLSFront: Sendable {
    static let host = "front.example.test"

    let port: UInt16
    private let server: NginxServer

    /// - Parameter origin: the port that takes the requests in clear.
    init(to origin: UInt16) throws {
        port = FreePort.take()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: Self.host)))
        server = try NginxServer([.init(port: port, name: "front", identity: identity, origin: origin)])
    }

    var authority: String { "\(Self.host):\(port)" }
}
