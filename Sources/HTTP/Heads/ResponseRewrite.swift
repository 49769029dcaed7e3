import Bytes

/// How a response's head changes on its way back. The default is a plain response to an HTTP/1.1 client.
public struct ResponseRewrite: Sendable {
    public enum Body: Equatable, Sendable {
        /// The framing stays: the body's bytes are relayed as they come, chunks included.
        case asReceived
        /// The body's length is known anew.
        case length(Int)
        /// The body is chunked by us: it came until close, or its content was decoded.
        case chunked
        /// The body ends with the connection, as for an HTTP/1.0 client; the caller says `Connection: close`.
        case untilClose
    }

    public var body = Body.asReceived
    public var connection = ConnectionLine.none
    /// Beside the hop-by-hop fields, for instance `contentEncoding` when the content was decoded.
    public var dropping: FieldSet = []

    public init() {}
}

extension ResponseHead {
    /// Writes this head as the proxy sends it on, up to but without the empty line: the caller may add fields, then
    /// ends it. `bytes` are those that were parsed.
    ///
    /// The version is ours, HTTP/1.1, whatever the upstream spoke (RFC 9110 section 2.5).
    ///
    /// - Parameter upgrade: set where the origin was reached as `https` though the client asked for `http`.
    public func write(
        _ bytes: Span<UInt8>, as rewrite: ResponseRewrite, through upgrade: UpgradedOrigin? = nil, via: Via,
        into buffer: ByteBuffer
    ) -> HeadWriter {
        let writer = HeadWriter(into: buffer)
        let isOurVersion = bytes.holds("HTTP/1.1", at: 0)
        if !isOurVersion || reason.isEmpty || fields.isEmpty { buffer.append(literal: "HTTP/1.1") }
        let dropped = dropped(by: rewrite)
        if reason.isEmpty || fields.isEmpty {
            buffer.append(bytes.extracting(statusLineRest.lowerBound..<statusLineRest.lowerBound &+ 4))
            buffer.append(.space)
            buffer.append(bytes.extracting(reason))
            buffer.append(literal: "\r\n")
            copy(bytes, from: statusLineRest.upperBound, dropping: dropped, upgrade: upgrade, with: writer)
        } else {
            let start = isOurVersion ? 0 : statusLineRest.lowerBound
            copy(bytes, from: start, dropping: dropped, upgrade: upgrade, with: writer)
        }
        if case .asReceived = rewrite.body { restateFraming(with: writer) }
        via.append(received: version, to: buffer)
        switch rewrite.body {
        case .length(let length) where !isBodiless: writer.field("Content-Length", decimal: length)
        case .chunked where !isBodiless: buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        default: break
        }
        rewrite.connection.append(to: writer)
        return writer
    }

    private func copy(
        _ bytes: Span<UInt8>, from start: Int, dropping dropped: FieldSet, upgrade: UpgradedOrigin?,
        with writer: borrowing HeadWriter
    ) {
        if let upgrade {
            writer.copy(fields, of: bytes, from: start, dropping: dropped, through: upgrade, namedFor: .client)
        } else {
            writer.copy(fields, of: bytes, from: start, dropping: dropped)
        }
    }

    /// Writes anew what must not go on as it came: of a `Transfer-Encoding`, however it is spelled, one recipient may read
    /// something else than another.
    private func restateFraming(with writer: borrowing HeadWriter) {
        switch said.stated {
        case .chunked: writer.buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        case .length(let length) where said.lengthIsOdd: writer.field("Content-Length", decimal: length)
        case .none, .length, .untilClose: break
        }
    }

    /// RFC 9112 section 6.1 and RFC 9110 section 8.6: neither framing field may stand in these, and a client that
    /// believes one waits for a body that does not come.
    private var isBodiless: Bool { status.rawValue < 200 || status == .noContent }

    private func dropped(by rewrite: ResponseRewrite) -> FieldSet {
        var dropped = FieldSet.hopByHop.union(rewrite.dropping)
        if rewrite.connection == .upgrade { dropped.subtract(FieldSet(.upgrade)) }
        if isBodiless || rewrite.body != .asReceived {
            dropped.insert(.contentLength)
            dropped.insert(.transferEncoding)
        } else {
            dropped.insert(.transferEncoding)
            if said.lengthIsOdd { dropped.insert(.contentLength) }
        }
        return dropped
    }
}
