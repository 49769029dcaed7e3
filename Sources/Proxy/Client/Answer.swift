import Bytes
import HTTP
import IO
import TLS
import Telemetry
import Transport

/// An answer of the proxy's own.
struct Answer {
    let session: ClientSession
    let exchange: Exchange

    /// What is read of a request's body so that the connection can be kept after an answer that did not want it.
    private static let discardLimit = 64 * 1024

    /// Tells the client why its request was not carried out: status, `Proxy-Status`, and a sentence.
    /// - Returns: whether the client's connection can carry another request.
    func send(_ refusal: Refusal) async -> Bool {
        let keeps = refusal.keepsConnection && canKeep
        exchange.record.status = Int(refusal.status.rawValue)
        let text = refusal.text
        let buffer = exchange.outbound
        buffer.clear()
        let writer = HeadWriter(status: refusal.status, into: buffer)
        writer.date(SystemClock.epochMilliseconds / 1000)
        for field in refusal.fields { writer.field(field.name, field.value) }
        writer.field(
            "Proxy-Status",
            ProxyStatus(
                proxy: Via.name, error: refusal.error, details: refusal.details,
                receivedStatus: refusal.receivedStatus?.rawValue,
                alert: refusal.alert.map { (Int($0.rawValue), "\($0)") }
            ).value)
        writer.field("Content-Type", "text/plain; charset=utf-8")
        writer.field("Content-Length", decimal: text.utf8.count)
        connection(keeps, writer)
        writer.end()
        if exchange.request.method != .head {
            buffer.append(text)
            exchange.record.bytesOut = text.utf8.count
        }
        guard await write(buffer), keeps else { return false }
        return await readRest()
    }

    /// Answers an OPTIONS request that is meant for the proxy itself.
    func sendOptions() async throws(ExchangeFailure) -> Bool {
        exchange.record.status = Int(Status.ok.rawValue)
        let keeps = canKeep
        let buffer = exchange.outbound
        buffer.clear()
        let writer = HeadWriter(status: .ok, into: buffer)
        writer.date(SystemClock.epochMilliseconds / 1000)
        writer.field("Allow", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH")
        writer.field("Content-Length", decimal: 0)
        connection(keeps, writer)
        writer.end()
        guard await write(buffer) else { throw .clientLost }
        return keeps ? await readRest() : false
    }

    private func connection(_ keeps: Bool, _ writer: borrowing HeadWriter) {
        if !keeps {
            writer.field("Connection", "close")
        } else if exchange.request.version < .http11 {
            writer.field("Connection", "keep-alive")
        }
    }

    /// A client that waits for `100 Continue` may send its body or not: where its next request begins is unknown.
    private var canKeep: Bool {
        guard exchange.request.keepAlive, !session.worker.isDraining else { return false }
        if exchange.body.isRead { return true }
        guard !exchange.request.expectsContinue, case .length(let length) = exchange.request.framing else {
            return false
        }
        return length <= Self.discardLimit
    }

    private func readRest() async -> Bool {
        await exchange.body.discard(
            from: session.stream, inbound: exchange.inbound, upTo: Self.discardLimit,
            idle: exchange.policy.timeouts.head)
    }

    private func write(_ buffer: ByteBuffer) async -> Bool {
        session.stream.setDeadline(after: exchange.policy.timeouts.idle)
        do throws(IOError) {
            try await session.stream.write(from: buffer)
            return true
        } catch { return false }
    }
}
