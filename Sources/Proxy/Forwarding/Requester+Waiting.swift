import Bytes
import HTTP
import IO
import Transport

extension Requester {
    /// This client, as it waits for slow work that the request in `exchange` needs. To be called by the task that carries it out.
    func waiting(on exchange: Exchange) -> WaitingClient {
        stream.setDeadline(after: nil)
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { self.hasLeft(exchange) }
    }

    /// Writes what the client takes at once of `buffer`.
    /// - Returns: whether it has taken all. If not, an event of its stream goes on, or the end of its deadline.
    func flush(_ buffer: ByteBuffer) throws(ExchangeFailure) -> Bool {
        while !buffer.isEmpty {
            switch stream.tryWrite(from: buffer) {
            case .moved, .endOfStream: continue
            case .failed: throw .clientLost
            case .wouldBlock:
                do throws(IOError) { try stream.check() } catch { throw .clientLost }
                stream.setDeadline(after: upstreams.policy.timeouts.idle)
                return false
            }
        }
        return true
    }
}
