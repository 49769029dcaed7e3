import Bytes
import Credentials
import Crypto
import IO
import Rules
import TLS
import Transport

/// A listener's identity to clients that connect by TLS, and the certificates that it believes. Files that change are
/// read again; connections that are there keep what they were made with.
public final class ListenerIdentity: Sendable {
    private let identities: FileBacked<Identity>
    private let contexts: FileBacked<ServerTLSContext>
    /// Whether a client without a certificate is sent away.
    let requiresCertificate: Bool

    /// Reads the files. Blocks.
    /// - Throws: why one cannot be used.
    public init(_ settings: Configuration.Listener.TLS) throws(FileProblem) {
        requiresCertificate = settings.clients?.isRequired ?? false
        identities = try Self.identities(settings)
        contexts = try Self.contexts(settings)
    }

    /// Why files cannot be used: all that can be told at once. Blocks.
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
        try FileBacked(settings.clients.map { [$0.authorities] } ?? []) { contents in
            try ServerTLSContext(
                ServerTLSSettings(clientCertificates: try contents.first.map(request) ?? .notRequested))
        }
    }

    var identity: Identity { identities.value }
    /// When the certificate that is shown expires, in seconds since 1970.
    public var expiry: Int { identity.leaf.notAfter }
    /// With it go the keys of the tickets: those who were believed by other authorities cannot come back by one.
    var context: ServerTLSContext { contexts.value }

    /// Puts TLS between, as the server; `earlier` are bytes of the client that were read to look at them.
    /// - Returns: whether there is TLS.
    public func accept(_ stream: ByteStream, after earlier: ByteBuffer, within milliseconds: Int) async -> Bool {
        do throws(HandshakeError) {
            let identity = identity
            try await stream.accept(as: context, after: earlier, within: milliseconds) { _ in identity }
            return true
        } catch { return false }
    }

    /// Reads the files again, and takes over what changed. Blocks: never on a loop.
    /// - Returns: why one is of no use.
    public func refresh() -> [FileProblem] { [identities.refresh(), contexts.refresh()].compactMap { $0 } }

    private static func request(from authorities: Secret) throws -> ServerTLSSettings.ClientCertificates {
        let anchors = try TrustAnchors(only: try authorities.withBytes { try Certificate.all(in: $0) })
        return .requested(issuers: anchors.certificates.compactMap(\.subject)) { chain in
            anchors.vouch(forClient: chain, at: SystemClock.epochMilliseconds / 1000)
        }
    }
}

/// An address where clients connect.
public struct ClientListener: Sendable {
    /// Port 0 lets the system choose.
    public var address: SocketAddress
    /// Nil: clients connect in clear.
    public let identity: ListenerIdentity?

    public init(_ address: SocketAddress, as identity: ListenerIdentity? = nil) {
        self.address = address
        self.identity = identity
    }
}
