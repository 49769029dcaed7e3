import Bytes

/// The changes of a response's head when it is sent back. The default is a plain response to an HTTP/1.1 client.
public struct ResponseRewrite: Sendable {
    public enum Body: Equatable, Sendable {
        /// The framing stays: the body's bytes are relayed unchanged, chunks included.
        case asReceived
        /// The body has a new, known length.
        case length(Int)
        /// The proxy chunks the body: it ended with its connection, or its content was decoded.
        case chunked
        /// The body ends with the connection, as for an HTTP/1.0 client; the caller writes `Connection: close`.
        case untilClose
    }

    public var body = Body.asReceived
    public var connection = ConnectionOptions.Line.none
    /// The fields to drop beside the hop-by-hop fields, for instance `contentEncoding` if the content was decoded.
    public var dropping: FieldSet = []

    public init() {}
}

extension ResponseHead {
    /// Writes this head in the form in which the proxy sends it on, up to the empty line, which the caller adds after
    /// its own fields. `bytes` are the parsed bytes.
    ///
    /// The version is HTTP/1.1, for any version of the upstream (RFC 9110 section 2.5).
    ///
    /// - Parameter upgrade: set if the origin was reached as `https` though the client asked for `http`.
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

    /// Writes the framing fields again. Recipients may read an unusual spelling of `Transfer-Encoding` differently.
    private func restateFraming(with writer: borrowing HeadWriter) {
        switch said.stated {
        case .chunked: writer.buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        case .length(let length) where said.lengthIsOdd: writer.field("Content-Length", decimal: length)
        case .none, .length, .untilClose: break
        }
    }

    /// RFC 9112 section 6.1 and RFC 9110 section 8.6: neither framing field is allowed in these responses. A client
    /// that believes one waits for a body that does not come.
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
