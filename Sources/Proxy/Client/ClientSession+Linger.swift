import Bytes
import IO
import Transport
import Upstream

/// The end of a client's connection behind its last answer.
extension ClientSession {
    /// Some look for an answer only once the system takes no more from them, megabytes later.
    private static let lingerBytes = 16 * 1024 * 1024
    private static let lingerMilliseconds = 2000

    /// Ends our side and reads what still comes for a moment: closing at once would reset the connection, and a reset
    /// may destroy the answer before it was read.
    func linger() {
        guard !stream.isClosed else { return end() }
        stream.shutdownWrite()
        stream.rest(telling: self)
        stream.setDeadline(after: Self.lingerMilliseconds)
        discard(Self.lingerBytes)
    }

    func discard(_ limit: Int) {
        let buffer = requester.loop.buffers.take()
        defer { requester.loop.buffers.give(buffer) }
        var rest = limit
        while rest > 0 {
            buffer.clear()
            switch stream.tryRead(into: buffer) {
            case .moved(let count): rest -= count
            case .wouldBlock:
                phase = .lingering(rest: rest)
                return
            case .endOfStream, .failed: return end()
            }
        }
        end()
    }
}
