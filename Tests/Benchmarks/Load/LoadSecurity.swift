import Bytes
import Glibc
import IO
import TLS
import Transport

/// How the load generator's clients speak TLS with 127.0.0.1.
final class LoadSecurity: Sendable {
    private let context: ClientTLSContext
    private let anchors: TrustAnchors
    private let sessions: SessionCache<UInt16>?

    /// - Parameters:
    ///   - anchor: a PEM file with the one root that is believed.
    ///   - resumes: whether a client takes up the session of one before it.
    init(anchor: String, resumes: Bool) throws(BenchError) {
        guard let bytes = Workspace.read(anchor) else { throw .machine("cannot read \(anchor)") }
        do {
            context = try ClientTLSContext.shared(for: ClientTLSSettings())
            anchors = try TrustAnchors(only: Certificate.all(inPEM: bytes.span))
        } catch {
            throw .machine("no TLS for the load generator: \(error)")
        }
        sessions = resumes ? SessionCache(capacity: 64) : nil
    }

    /// Puts TLS on a stream.
    func secure(_ stream: ByteStream, within limit: Int) async throws(HandshakeError) {
        let name = ServerName.address(IPAddress(v4: 0x7F00_0001))
        let port = stream.peerAddress?.port ?? 0
        try await stream.handshake(as: context, to: name, sessions: sessions?.place(for: port), within: limit) {
            [anchors] chain in
            TrustEvaluation.of(chain, for: name, anchors: anchors, at: time(nil)).verified.map { ServerTrust($0) }
        }
    }
}
