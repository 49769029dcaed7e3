import Bytes
import Forwarding
import HTTP
import IO
import TLS
import Telemetry
import Transport
import Upstream

/// A response of the proxy's own.
struct ProxyResponse {
    let downstream: Downstream
    let exchange: Exchange

    /// The limit of bytes of an unwanted request body that are read to keep the connection.
    private static let discardLimit = 64 * 1024

    /// Sends the response in `outbound`, and reads the rest of the request.
    ///
    /// - Parameter keeps: whether the response lets the client's connection carry another request.
    /// - Returns: whether the connection can carry another request.
    func send(keepingConnection keeps: Bool) async -> Bool {
        guard await write(exchange.outbound), keeps else { return false }
        return await exchange.body.discard(
            from: downstream.stream, inbound: exchange.inbound, upTo: Self.discardLimit,
            idle: exchange.policy.timeouts.head)
    }

    /// Writes to `outbound` why the request was not carried out: status, `Proxy-Status`, and a sentence. Records it.
    /// - Returns: whether the response lets the client's connection carry another request.
    func write(_ refusal: Refusal) -> Bool {
        exchange.record.facts.error = refusal.error
        refusal.trust?.note(in: exchange.record)
        // An explanation for the operator, if any, is more detailed than the client's.
        if exchange.record.facts.details == nil { exchange.record.facts.details = refusal.sentence }
        exchange.record.facts.status = Int(refusal.status.rawValue)
        let buffer = exchange.outbound
        buffer.clear()
        // It expects the bytes of the server.
        if exchange.record.facts.isRedirected { return false }
        if let version = exchange.record.facts.socks {
            buffer.append(refusal.socksReply.bytes(version))
            return false
        }
        if exchange.record.parts.contains(.challenges) { exchange.record.facts.proxyStatus = refusal.proxyStatus }
        if isCall {
            refusal.writeToCall(into: buffer)
            exchange.record.facts.headBytesOut = buffer.count
            exchange.record.setType("application/grpc".utf8Span.span)
            return false
        }
        let keeps = refusal.keepsConnection && canKeep
        let hasBody = exchange.request.method != .head
        refusal.write(into: buffer, connection: connection(keeps), withBody: hasBody)
        if hasBody { exchange.record.facts.bytesOut = refusal.text.utf8.count }
        exchange.record.facts.headBytesOut = buffer.count - exchange.record.facts.bytesOut
        exchange.record.setType("text/plain".utf8Span.span)
        return keeps
    }

    /// Writes to `outbound` the response to an OPTIONS request for the proxy itself.
    /// - Returns: whether the response lets the client's connection carry another request.
    func writeOptions() -> Bool {
        exchange.record.facts.status = Int(Status.ok.rawValue)
        let keeps = canKeep
        let buffer = exchange.outbound
        buffer.clear()
        let writer = HeadWriter(status: .ok, into: buffer)
        writer.date(SystemClock.wallTime)
        writer.field("Allow", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH")
        writer.field("Content-Length", decimal: 0)
        if let option = connection(keeps) { writer.field("Connection", option) }
        writer.end()
        exchange.record.facts.headBytesOut = buffer.count
        return keeps
    }

    /// Whether the request is a call of gRPC on a stream.
    private var isCall: Bool { (downstream.stream.channel as? ClientStream)?.isCall ?? false }

    /// The connection option to send; nil for none.
    private func connection(_ keeps: Bool) -> StaticString? {
        if !keeps { return "close" }
        return exchange.request.version < .http11 ? "keep-alive" : nil
    }

    /// Whether the connection can be kept. A client that waits for `100 Continue` may or may not send its body: the
    /// start of its next request is unknown.
    private var canKeep: Bool {
        guard exchange.request.keepAlive, !downstream.upstreams.isDraining else { return false }
        if exchange.body.isRead { return true }
        guard !exchange.request.expectsContinue, case .length(let length) = exchange.request.framing else {
            return false
        }
        return length <= Self.discardLimit
    }

    private func write(_ buffer: ByteBuffer) async -> Bool {
        downstream.stream.setDeadline(after: exchange.policy.timeouts.idle)
        do throws(IOError) {
            try await downstream.stream.write(from: buffer)
            return true
        } catch { return false }
    }
}

extension Refusal {
    /// The value of `Proxy-Status` (RFC 9209).
    fileprivate var proxyStatus: String {
        ProxyStatus(
            proxy: Via.name, error: error, details: details, receivedStatus: receivedStatus?.rawValue,
            alert: alert.map { (Int($0.rawValue), "\($0)") }
        ).value
    }

    /// The reply to a client that asked by SOCKS.
    fileprivate var socksReply: SOCKSNegotiation.Reply {
        switch error {
        case .httpRequestDenied, .destinationIPProhibited, .proxyLoopDetected: .notAllowed
        case .destinationIPUnroutable: .networkUnreachable
        case .dnsError, .dnsTimeout, .destinationNotFound, .destinationUnavailable, .connectionTimeout: .hostUnreachable
        case .connectionRefused: .connectionRefused
        default: .failure
        }
    }

    /// The code of gRPC for the refusal.
    var callCode: GRPC.Code {
        switch status {
        case .unauthorized, .proxyAuthenticationRequired: .unauthenticated
        case .forbidden: .permissionDenied
        case .contentTooLarge, .tooManyRequests, .requestHeaderFieldsTooLarge: .resourceExhausted
        case .gatewayTimeout: .deadlineExceeded
        case .badGateway: callCodeOfServer
        case .serviceUnavailable: .unavailable
        default: .unknown
        }
    }

    /// The code for a `502`. Clients may repeat a call that is `unavailable`, but a missing login or a rule stays.
    private var callCodeOfServer: GRPC.Code {
        if isTransient { return .unavailable }
        return switch receivedStatus {
        case .unauthorized, .proxyAuthenticationRequired: .unauthenticated
        case nil: error == .httpRequestDenied ? .unauthenticated : .unavailable
        default: error == .httpRequestDenied ? .permissionDenied : .unavailable
        }
    }

    /// Writes the response for the client of a call, which reads the reason in the fields of a response without content.
    func writeToCall(into buffer: ByteBuffer) {
        let writer = HeadWriter(status: .ok, into: buffer)
        writer.date(SystemClock.wallTime)
        for field in fields { writer.field(field.name, field.value) }
        writer.field("Proxy-Status", proxyStatus)
        writer.field("Content-Type", GRPC.mediaType)
        writer.field("Content-Length", decimal: 0)
        writer.field("grpc-status", decimal: callCode.rawValue)
        writer.field("grpc-message", PercentEncoding.printable(sentence).span)
        writer.end()
    }

    /// Writes the response: status, `Proxy-Status`, and a sentence.
    /// - Parameter connection: the connection option of the response; nil for none.
    func write(into buffer: ByteBuffer, connection: StaticString?, withBody: Bool) {
        let writer = HeadWriter(status: status, into: buffer)
        writer.date(SystemClock.wallTime)
        for field in fields { writer.field(field.name, field.value) }
        writer.field("Proxy-Status", proxyStatus)
        writer.field("Content-Type", "text/plain; charset=utf-8")
        writer.field("Content-Length", decimal: text.utf8.count)
        if let connection { writer.field("Connection", connection) }
        writer.end()
        if withBody { buffer.append(text) }
    }
}
