import Bytes
import Credentials
import Crypto
import IO
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

    /// Reads the files. Blocks.
    /// - Throws: the reason why a file cannot be used.
    public init(_ settings: Configuration.Listener.TLS) throws(FileProblem) {
        requiresCertificate = settings.clients?.isRequired ?? false
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
        try FileBacked(settings.clients.map { [$0.authorities] } ?? []) { contents in
            try ServerTLSContext(
                ServerTLSSettings(clientCertificates: try contents.first.map(request) ?? .notRequested))
        }
    }

    var identity: Identity { identities.value }
    /// The time when the listener's certificate expires, in seconds since 1970.
    public var expiry: Int { identity.leaf.notAfter }
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

    private static func request(from authorities: Secret) throws -> ServerTLSSettings.ClientCertificates {
        let anchors = try TrustAnchors(only: try authorities.withBytes { try Certificate.all(in: $0) })
        return .requested(issuers: anchors.certificates.compactMap(\.subject)) { chain in
            anchors.vouch(forClient: chain, at: SystemClock.epochMilliseconds / 1000)
        }
    }
}
