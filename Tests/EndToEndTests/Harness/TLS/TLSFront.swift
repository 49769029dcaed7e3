import Foundation

/// TLS before an origin of the tests, by an nginx of its own.
struct TLSFront: Sendable {
    static let host = "front.example.test"

    let port: UInt16
    private let server: NginxServer

    /// - Parameters:
    ///   - origin: the port that takes the requests in clear.
    ///   - demand: what clients must show.
    init(to origin: UInt16, demand: Demand = .nothing) throws {
        port = FreePort.take()
        let hierarchy = try Hierarchy.shared()
        let identity = try ServerIdentity(hierarchy.issuing.issue(CertificateTerms(host: Self.host)))
        server = try NginxServer([
            .init(
                port: port, name: "front", identity: identity, directives: try demand.directives(hierarchy),
                origin: origin)
        ])
    }

    var authority: String { "\(Self.host):\(port)" }
}
