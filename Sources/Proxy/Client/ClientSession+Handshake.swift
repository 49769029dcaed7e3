import Bytes
import TLS
import Telemetry
import Transport
import Upstream

extension ClientSession {
    /// Puts TLS between the client and the session, as the server; the parameters are those of the stream's `accept`.
    func accept(
        as server: ServerTLSContext, after earlier: ByteBuffer, within limit: Int,
        identity: (_ serverName: String?) async -> Identity?
    ) async throws(HandshakeError) {
        do throws(HandshakeError) {
            try await stream.accept(as: server, after: earlier, within: limit, identity: identity)
        } catch {
            requester.metrics.add(to: .clientHandshakesFailed)
            throw error
        }
        requester.metrics.add(
            to: stream.tls?.isResumed == true ? .clientHandshakesResumed : .clientHandshakesFull)
    }
}
