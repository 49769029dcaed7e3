import Bytes
import Forwarding
import HTTP
import IO
import Transport
import Upstream

/// The way from the first byte of a request, or of a handshake, to the end of its head.
extension ClientSession {
    func takeRequest(_ exchange: Exchange) {
        exchange.startedAt = requester.loop.nanoseconds
        do throws(ExchangeFailure) {
            switch try RequestReading(session: self, exchange: exchange).read() {
            case .complete: try carryOut(exchange)
            case .incomplete: awaitRest(of: exchange)
            case .nothing:
                host.give(exchange)
                awaitRequest()
            case .ended:
                giveBack(exchange)
                end()
            }
        } catch { fail(exchange, error) }
    }

    /// A part of a head may be there, and the next to borrow the exchange is another client.
    func giveBack(_ exchange: Exchange) {
        exchange.reset()
        host.give(exchange)
    }

    /// Most handshakes begin with less.
    private static let helloCapacity = 512

    /// A client that sends its hello slowly has no more than the bytes that it has sent, as with a request's head.
    func receive(_ earlier: ByteBuffer?, for identity: ListenerIdentity) {
        let hello = earlier ?? ByteBuffer(capacity: Self.helloCapacity)
        phase = .arriving(identity, hello: hello)
        while !SpokenProtocol.hasFirstRecord(hello.readable) {
            if hello.writableCount == 0 { hello.reserve(1) }
            switch stream.tryRead(into: hello) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return end()
            }
        }
        let exchange = lend()
        exchange.startedAt = requester.loop.nanoseconds
        exchange.inbound.append(hello.readable)
        serve(exchange, from: .arriving(identity))
    }

    private func awaitRest(of exchange: Exchange) {
        let inbound = exchange.inbound
        let head = PartialHead(
            inbound.readable, startedAt: exchange.startedAt, limits: exchange.policy.limits.request)
        giveBack(exchange)
        phase = .receiving(head)
        stream.socket.rest(telling: self)
        stream.setDeadline(after: host.policy.exchanges.timeouts.head)
        if stream.isReadable { receive(head) }
    }

    func receive(_ head: PartialHead) {
        while true {
            switch head.read(from: stream) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return end()
            }
            guard head.isDue else { continue }
            let exchange = exchange(for: head)
            do throws(ExchangeFailure) {
                if try RequestReading(session: self, exchange: exchange).parse() { return try carryOut(exchange) }
            } catch { return fail(exchange, error) }
            giveBack(exchange)
            head.noteParsing()
        }
    }

    /// The rest has not come in time.
    func refuse(_ head: PartialHead) {
        let exchange = exchange(for: head)
        _ = OwnResponse(session: self, exchange: exchange).write(.lateHead)
        guard stream.writeAtOnce(exchange.outbound) else {
            return serve(exchange, from: .answered(keepsConnection: false))
        }
        finish(exchange, goesOn: false, lingers: true)
    }

    private func exchange(for head: PartialHead) -> Exchange {
        let (exchange, bytes) = (lend(), head.bytes)
        exchange.startedAt = head.startedAt
        exchange.inbound.append(bytes.readable)
        return exchange
    }
}
