import Bytes
import Credentials
import Crypto
import IO
import Model
import Rules
import TLS
import Transport

/// A listener's certificate for clients that connect with TLS, and the CAs whose client certificates it accepts.
/// Changed files are read again; existing connections stay as they are.
public final class ListenerIdentity: Sendable {
    private let identities: FileBacked<Identity>
    private let contexts: FileBacked<ServerTLSContext>
    /// Whether a client without a certificate is refused.
    let requiresCertificate: Bool
    /// Whether clients may choose HTTP/2.
    let offersHTTP2: Bool

    /// Reads the files. Blocks.
    /// - Throws: the reason why a file cannot be used.
    public init(_ settings: Configuration.Listener.TLS) throws(FileProblem) {
        requiresCertificate = settings.clients?.isRequired ?? false
        offersHTTP2 = settings.offersHTTP2
        identities = try Self.identities(settings)
        contexts = try Self.contexts(settings)
    }

    /// Returns all problems with the files that can be found at once. Blocks.
    public static func problems(with settings: Configuration.Listener.TLS) -> [FileProblem] {
        var problems: [FileProblem] = []
        do throws(FileProblem) { _ = try identities(settings) } catch { problems.append(error) }
        do throws(FileProblem) { _ = try contexts(settings) } catch { problems.append(error) }
        return problems
    }

    private static func identities(_ settings: Configuration.Listener.TLS) throws(FileProblem) -> FileBacked<Identity> {
        try FileBacked([settings.certificate, settings.key]) { contents in
            try Identity(certificate: .content(contents[0]), key: .content(contents[1]))
        }
    }

    private static func contexts(
        _ settings: Configuration.Listener.TLS
    ) throws(FileProblem) -> FileBacked<ServerTLSContext> {
        let domains = settings.clients?.domains ?? []
        let paths = settings.clients.map { [$0.authorities].compactMap(\.self) } ?? []
        return try FileBacked(paths + domains.map(\.authorities)) { contents in
            let clients: ServerTLSContext.Settings.ClientCertificates =
                domains.isEmpty
                ? try contents.first.map(request) ?? .notRequested
                : try request(from: contents, of: domains.map(\.name))
            return try ServerTLSContext(ServerTLSContext.Settings(clientCertificates: clients))
        }
    }

    var identity: Identity { identities.value }
    /// The time when the listener's certificate expires.
    public var expiry: WallTime { identity.leaf.notAfter }
    /// The TLS context. A new one has new ticket keys, so that clients accepted by earlier CAs cannot resume a session.
    var context: ServerTLSContext { contexts.value }

    /// Performs the TLS handshake as the server. `earlier` holds bytes of the client that were read before.
    /// - Returns: whether the handshake succeeded.
    public func accept(_ stream: ByteStream, after earlier: ByteBuffer, within limit: Milliseconds) async -> Bool {
        do throws(HandshakeError) {
            let identity = identity
            try await stream.accept(as: context, after: earlier, within: limit) { _ in identity }
            return true
        } catch { return false }
    }

    /// Reads the files again, and adopts the changes. Blocks: never call it on a loop.
    /// - Returns: the problems with files that cannot be used.
    public func refresh() -> [FileProblem] { [identities.refresh(), contexts.refresh()].compactMap { $0 } }

    private static func request(from authorities: Secret) throws -> ServerTLSContext.Settings.ClientCertificates {
        let anchors = try TrustAnchors(only: try authorities.withBytes { try Certificate.all(in: $0) })
        return .requested(issuers: anchors.certificates.compactMap(\.subject)) { chain in
            anchors.vouch(forClient: chain, at: SystemClock.wallTime)
        }
    }

    /// - Parameters:
    ///   - authorities: the files of the trust domains, in their order.
    ///   - domains: their names. The certificates of one say nothing about the workloads of another.
    private static func request(
        from authorities: [Secret], of domains: [String]
    ) throws -> ServerTLSContext.Settings.ClientCertificates {
        var anchors: [String: TrustAnchors] = [:]
        for (domain, file) in zip(domains, authorities) {
            anchors[domain] = try TrustAnchors(only: try file.withBytes { try Certificate.all(in: $0) })
        }
        let fixed = anchors
        let issuers = domains.flatMap { fixed[$0]?.certificates.compactMap(\.subject) ?? [] }
        return .requested(issuers: issuers) { chain in
            guard let workload = chain.leaf.workload, let anchors = fixed[workload.trustDomain] else { return false }
            return anchors.vouch(forClient: chain, at: SystemClock.wallTime)
        }
    }
}
