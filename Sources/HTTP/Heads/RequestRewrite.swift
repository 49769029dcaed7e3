import Bytes

/// The changes of a request's head when it is sent on. The default is a plain request to an origin server.
public struct RequestRewrite: Sendable {
    public enum Form: Sendable {
        /// Path and query; `host:port` for CONNECT.
        case origin
        /// The absolute-form for a parent proxy. The scheme is used for a target without one.
        case absolute(Scheme)
    }

    public enum Body: Equatable, Sendable {
        /// The framing stays: the body's bytes are relayed unchanged, chunks included.
        case asReceived
        /// No body follows, even if the client sent one: `Content-Length: 0`, for a probe.
        case empty
        case length(Int)
        case chunked
    }

    public enum Expectation: Sendable {
        case asReceived
        case dropped
        /// `Expect: 100-continue` is sent, even if the client did not send it.
        case added
    }

    public var form = Form.origin
    public var body = Body.asReceived
    public var expectation = Expectation.asReceived
    public var connection = ConnectionOptions.Line.none
    /// The fields to drop beside the hop-by-hop fields, for instance `authorization` if the caller writes its own.
    public var dropping: FieldSet = []

    public init() {}
}

extension RequestHead {
    /// Writes this head in the form in which the proxy sends it on, up to the empty line, which the caller adds after
    /// its own fields. `bytes` are the parsed bytes.
    ///
    /// The Host line is made from the target (RFC 9112 section 3.2.2) and is first, unless the client's is already
    /// equal. Hop-by-hop and nominated fields are dropped. A Via line is last, and the Max-Forwards of OPTIONS and
    /// TRACE is decremented. The caller has already checked Max-Forwards and loops.
    ///
    /// - Parameters:
    ///   - target: a target in origin-form that replaces the client's.
    ///   - upgrade: set if the origin is reached as `https` though the target says `http`.
    public func write(
        _ bytes: Span<UInt8>, as rewrite: RequestRewrite, to target: ByteBuffer? = nil,
        through upgrade: UpgradedOrigin? = nil, via: Via, into buffer: ByteBuffer
    ) -> HeadWriter {
        let writer = HeadWriter(into: buffer)
        if let target {
            buffer.append(bytes.extracting(methodName.lowerBound..<methodName.upperBound &+ 1))
            buffer.append(target.readable)
            buffer.append(literal: " HTTP/1.1\r\n")
        } else {
            appendRequestLine(bytes, form: rewrite.form, to: buffer)
        }
        let keepsHost = keepsHostLine(upgrade)
        if let authority, !keepsHost {
            buffer.append(literal: "Host: ")
            if let upgrade {
                upgrade.append(hostField: bytes.extracting(authority.bracketedHost), to: buffer)
            } else {
                append(authority, of: bytes, to: buffer)
            }
            buffer.appendLineEnd()
        }
        let dropped = dropped(bytes, by: rewrite, keepsHost: keepsHost)
        if let upgrade {
            writer.copy(
                fields, of: bytes, from: fields.start, dropping: dropped, through: upgrade, namedFor: .origin)
        } else {
            writer.copy(fields, of: bytes, from: fields.start, dropping: dropped)
        }
        via.append(received: version, to: buffer)
        if let maxForwards { writer.field("Max-Forwards", decimal: max(maxForwards - 1, 0)) }
        switch rewrite.body {
        case .asReceived: restateFraming(bytes, with: writer)
        case .empty: buffer.append(literal: "Content-Length: 0\r\n")
        case .length(let length): writer.field("Content-Length", decimal: length)
        case .chunked: buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        }
        if case .added = rewrite.expectation { buffer.append(literal: "Expect: 100-continue\r\n") }
        rewrite.connection.append(to: writer)
        return writer
    }

    /// Writes the framing fields again that must not be passed on unchanged.
    private func restateFraming(_ bytes: Span<UInt8>, with writer: borrowing HeadWriter) {
        switch framing {
        case .chunked: writer.buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        case .length(let length) where lengthIsPadded(bytes): writer.field("Content-Length", decimal: length)
        case .none, .length, .untilClose: break
        }
    }

    /// Whether the length has leading zeros, which some programs read as octal.
    private func lengthIsPadded(_ bytes: Span<UInt8>) -> Bool {
        guard let value = fields.first(.contentLength)?.value, value.count > 1 else { return false }
        return bytes[value.lowerBound] == 0x30
    }

    private func appendRequestLine(_ bytes: Span<UInt8>, form: RequestRewrite.Form, to buffer: ByteBuffer) {
        buffer.append(bytes.extracting(methodName.lowerBound..<methodName.upperBound &+ 1))
        if case .origin = form, target.form != .authority, isOriginFormAsSent(bytes) {
            // Path, version and line end in one piece.
            buffer.append(bytes.extracting(target.path.lowerBound..<target.text.upperBound &+ 11))
            return
        }
        appendTarget(bytes, form: form, to: buffer)
        buffer.append(literal: " HTTP/1.1\r\n")
    }

    /// Appends the request target in that form.
    public func appendTarget(_ bytes: Span<UInt8>, form: RequestRewrite.Form, to buffer: ByteBuffer) {
        if target.form == .authority {
            buffer.append(bytes.extracting(target.text))
        } else if case .absolute(let scheme) = form, let authority {
            appendScheme(bytes, or: scheme, to: buffer)
            append(authority, of: bytes, to: buffer)
            // RFC 9112 section 3.2.4: for a proxy, the target without path means the asterisk.
            if target.form != .asterisk { target.appendOriginForm(bytes, to: buffer) }
        } else {
            target.appendOriginForm(bytes, to: buffer)
        }
    }

    private func append(_ authority: Authority, of bytes: Span<UInt8>, to buffer: ByteBuffer) {
        buffer.append(bytes.extracting(authority.text))
        guard let assumedPort = host.assumedPort else { return }
        buffer.append(.colon)
        buffer.append(decimal: Int(assumedPort))
    }

    /// Whether the request line from the path on is already what an origin server gets.
    private func isOriginFormAsSent(_ bytes: Span<UInt8>) -> Bool {
        target.form != .asterisk && !target.path.isEmpty && bytes[target.path.lowerBound] == .slash
            && bytes.holds("HTTP/1.1", at: target.text.upperBound &+ 1)
    }

    private func appendScheme(_ bytes: Span<UInt8>, or scheme: Scheme, to buffer: ByteBuffer) {
        if target.scheme != nil {
            buffer.append(bytes.extracting(target.schemeName))
        } else {
            buffer.append(scheme == .https ? "https" as StaticString : "http")
        }
        buffer.append(literal: "://")
    }

    /// Whether the Host line is also correct for the origin.
    private func keepsHostLine(_ upgrade: UpgradedOrigin?) -> Bool {
        guard host.isKept, let upgrade else { return host.isKept }
        return (authority?.explicitPort ?? UpgradedOrigin.usualOriginPort) == upgrade.originPort
    }

    private func dropped(_ bytes: Span<UInt8>, by rewrite: RequestRewrite, keepsHost: Bool) -> FieldSet {
        var dropped = FieldSet.hopByHop.union(rewrite.dropping).union(FieldSet(.transferEncoding))
        if !keepsHost { dropped.insert(.host) }
        if rewrite.connection == .upgrade { dropped.subtract(FieldSet(.upgrade)) }
        if maxForwards != nil { dropped.insert(.maxForwards) }
        if rewrite.body != .asReceived {
            dropped.insert(.contentLength)
            if rewrite.body != .chunked { dropped.insert(.trailer) }
        } else if case .length = framing, lengthIsPadded(bytes) {
            dropped.insert(.contentLength)
        }
        // An expectation in HTTP/1.0 was ignored, and the higher version must not make it valid.
        if case .asReceived = rewrite.expectation, version >= .http11 { return dropped }
        dropped.insert(.expect)
        return dropped
    }
}
