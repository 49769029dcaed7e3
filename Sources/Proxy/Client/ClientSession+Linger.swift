import Bytes
import IO
import Transport
import Upstream

/// The end of a connection behind its last answer.
extension ClientSession {
    /// Some look for an answer only once the system takes no more from them, megabytes later.
    private static let lingerBytes = 16 * 1024 * 1024
    private static let lingerTime: Milliseconds = 2000

    /// Ends the sending side, and reads for a moment the bytes that still arrive. Closing at once would reset the
    /// connection, and a reset may destroy the response before the client reads it.
    func linger() {
        guard !stream.isClosed else { return end() }
        stream.shutdownWrite()
        stream.rest(telling: self)
        stream.setDeadline(after: Self.lingerTime)
        discard(Self.lingerBytes)
    }

    /// Ends a connection whose streams are over.
    func linger(behind streams: ClientStreams) {
        phase = .lingering(rest: 0)
        streams.lose()
        linger()
    }

    func discard(_ limit: Int) {
        guard let rest = stream.discard(upTo: limit, buffers: downstream.loop.buffers) else { return end() }
        phase = .lingering(rest: rest)
    }
}
