import Bytes
import Forwarding
import HTTP
import IO
import Transport
import Upstream

/// Reads a request's head from the client, without waiting.
struct RequestReading {
    enum Progress {
        case complete
        case incomplete
        /// Not a byte of a request is there.
        case nothing
        /// The client has ended, with or without a part of a request.
        case ended
    }

    let session: ClientSession
    let exchange: Exchange

    /// Most heads come whole, in one piece or behind the request before.
    func read() throws(ExchangeFailure) -> Progress {
        let inbound = exchange.inbound
        if !inbound.isEmpty {
            if try parse() { return .complete }
            // Behind many requests the last one's beginning may fill the buffer to its end.
            if inbound.writableCount == 0 { inbound.reserve(1) }
        }
        switch session.stream.tryRead(into: inbound) {
        case .moved: return try parse() ? .complete : .incomplete
        case .wouldBlock: return exchange.inbound.isEmpty ? .nothing : .incomplete
        case .endOfStream, .failed: return .ended
        }
    }

    /// Whether the head is whole; then it has moved to `headBytes`.
    func parse() throws(ExchangeFailure) -> Bool {
        let inbound = exchange.inbound
        do throws(HTTPError) {
            guard case .complete(let length) = try exchange.request.parse(inbound) else { return false }
            exchange.headBytes.append(inbound.readable.extracting(first: length))
            inbound.consume(length)
            return true
        } catch { throw .refused(Refusal(error)) }
    }
}
