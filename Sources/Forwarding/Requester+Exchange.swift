import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

extension Requester {
    /// This client, as it waits for slow work that the request in `exchange` needs. To be called by the task that carries it out.
    public func waiting(on exchange: Exchange) -> WaitingClient {
        stream.setDeadline(after: nil)
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { self.hasLeft(exchange) }
    }

    /// Writes what the client takes at once of `buffer`.
    /// - Returns: whether it has taken all. If not, an event of its stream goes on, or the end of its deadline.
    public func flush(_ buffer: ByteBuffer) throws(ExchangeFailure) -> Bool {
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

    /// The client as rules see it, in that exchange.
    public func identity(in exchange: Exchange) -> ClientIdentity {
        ClientIdentity(address: address, user: exchange.record.user)
    }

    // MARK: - A client that leaves

    /// From now on that is the sign, also if it is there already.
    public func leaves(by sign: Departure, in exchange: Exchange) {
        self.sign = sign
        notice(exchange)
    }

    /// Looks whether the client of the task that carries the exchange out has left.
    public func notice(_ exchange: Exchange) {
        guard stream.socket.hasPeerEnded || stream.tls != nil, hasLeft(exchange) else { return }
        presence.leave(awaitingVerdict: exchange.policy.timeouts.connect / 2, on: loop)
    }

    /// Whether the client has left, by the sign. The proxy itself, for a request of its own, never has.
    public func hasLeft(_ exchange: Exchange) -> Bool {
        let isGone = stream.isClosed || stream.socket.isBroken
        switch sign {
        case .none: return false
        case .reset: return isGone
        case .end:
            if isGone { return true }
            // A client that sends more requests behind this one may well have said so in the last.
            guard exchange.inbound.isEmpty, exchange.request.version >= .http11, exchange.request.keepAlive else {
                return false
            }
            return stream.isAtEnd()
        }
    }
}
