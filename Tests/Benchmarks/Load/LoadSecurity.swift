import Bytes
import Glibc
import IO
import Model
import TLS
import Transport

/// How the load generator's clients speak TLS with 127.0.0.1. They take any certificate: squid's for an address says the
/// address is a name.
final class LoadSecurity: Sendable {
    private let context: ClientTLSContext
    private let anchors: TrustAnchors
    private let sessions: SessionCache<UInt16>?

    /// - Parameters:
    ///   - resumes: whether a client takes up the session of one before it.
    ///   - maximum: the newest version that is offered.
    ///   - speaksHTTP2: whether HTTP/2 is offered, and nothing else.
    init(resumes: Bool = false, maximum: TLSVersion = .v13, speaksHTTP2: Bool = false) throws(BenchError) {
        do {
            let protocols = speaksHTTP2 ? ["h2"] : ["http/1.1"]
            context = try ClientTLSContext.shared(
                for: ClientTLSContext.Settings(maximum: maximum, applicationProtocols: protocols))
            anchors = try TrustAnchors(only: [])
        } catch {
            throw .machine("no TLS for the load generator: \(error)")
        }
        sessions = resumes ? SessionCache(capacity: 64) : nil
    }

    /// Puts TLS on a stream.
    func secure(_ stream: ByteStream, within limit: Milliseconds) async throws(HandshakeError) {
        let name = ServerName.address(IPAddress(v4: 0x7F00_0001))
        let port = stream.peerAddress?.port ?? 0
        try await stream.handshake(as: context, to: name, sessions: sessions?.slot(for: port), within: limit) {
            [anchors] chain in
            let evaluation = TrustEvaluation.of(chain, for: name, anchors: anchors, at: SystemClock.wallTime)
            guard case .trusted(let chain) = evaluation.forgiving(TrustFindings.all) else { return nil }
            return ServerTrust(chain)
        }
    }
}
