import Foundation

/// Every specimen behind one nginx, started when first asked for.
struct Zoo: Sendable {
    private static let opened = Result { try Zoo() }

    static func shared() throws -> Zoo { try opened.get() }

    let hierarchy: Hierarchy
    let server: NginxServer
    private let ports: [String: UInt16]
    private let identities: [String: ServerIdentity]

    private init() throws {
        hierarchy = try Hierarchy.shared()
        var servers: [NginxConfiguration.Server] = []
        for specimen in Specimen.all {
            servers.append(
                .init(
                    port: FreePort.take(), name: specimen.name, identity: try specimen.identity(),
                    directives: try specimen.demand.directives(hierarchy), offersHTTP2: specimen.offersHTTP2))
        }
        ports = Dictionary(uniqueKeysWithValues: servers.map { ($0.name, $0.port) })
        identities = Dictionary(uniqueKeysWithValues: servers.map { ($0.name, $0.identity) })
        server = try NginxServer(servers)
    }

    func port(of specimen: Specimen) -> UInt16 { ports[specimen.name] ?? 0 }

    func identity(of specimen: Specimen) throws -> ServerIdentity {
        guard let identity = identities[specimen.name] else {
            throw Spawn.Failure(description: "\(specimen) is not here")
        }
        return identity
    }

    /// The host and port of the specimen.
    func authority(of specimen: Specimen) -> String { "\(specimen.host):\(port(of: specimen))" }

    func url(_ specimen: Specimen, _ path: String = "/", scheme: String = "https") -> String {
        "\(scheme)://\(authority(of: specimen))\(path)"
    }
}
