import Bytes

/// Writes one head into a buffer: first the lines that its creator copies or makes, then the caller's own, then `end`.
/// It can be ended once.
public struct HeadWriter: ~Copyable {
    let buffer: ByteBuffer

    init(into buffer: ByteBuffer) {
        self.buffer = buffer
    }

    /// Begins a response of the proxy, without fields about its body or the connection.
    public init(status: Status, into buffer: ByteBuffer) {
        self.buffer = buffer
        buffer.append(literal: "HTTP/1.1 ")
        buffer.append(decimal: Int(status.rawValue))
        buffer.append(.space)
        buffer.append(status.reason)
        buffer.appendLineEnd()
    }

    /// Writes the `Date` of a response of the proxy (RFC 9110 section 6.6.1).
    public func date(_ time: WallTime) {
        if let text = HTTPDate.text(time) { field("Date", text) }
    }

    public func field(_ name: StaticString, _ value: StaticString) {
        buffer.append(name)
        buffer.append(literal: ": ")
        buffer.append(value)
        buffer.appendLineEnd()
    }

    public func field(_ name: StaticString, _ value: String) {
        field(name, value.utf8Span.span)
    }

    /// Writes a field. A control character in `value` becomes a space, so that no value can end its line.
    public func field(_ name: StaticString, _ value: Span<UInt8>) {
        buffer.append(name)
        finish(value)
    }

    /// Writes a field; `name` must be a token.
    public func field(named name: Span<UInt8>, _ value: Span<UInt8>) {
        buffer.append(name)
        finish(value)
    }

    private func finish(_ value: Span<UInt8>) {
        buffer.append(literal: ": ")
        var start = 0
        while start < value.count {
            let end = value.firstControl(from: start)
            buffer.append(value.extracting(start..<end))
            if end < value.count { buffer.append(.space) }
            start = end + 1
        }
        buffer.appendLineEnd()
    }

    /// - Parameter upgrade: the upgrade through which the response came; the cookie is adapted to it.
    public func setCookie(_ value: Span<UInt8>, through upgrade: UpgradedOrigin?) {
        buffer.append(literal: "Set-Cookie: ")
        if let upgrade { upgrade.append(cookie: value, to: buffer) } else { buffer.append(value) }
        buffer.appendLineEnd()
    }

    public func field(_ name: StaticString, decimal value: Int) {
        buffer.append(name)
        buffer.append(literal: ": ")
        buffer.append(decimal: value)
        buffer.appendLineEnd()
    }

    /// Ends the head with its empty line.
    public consuming func end() {
        buffer.appendLineEnd()
    }

    /// Copies the lines that are neither in `dropping` nor nominated, each run of adjacent lines at once. `start` is
    /// the beginning of the first run: after the start line, or inside it.
    func copy(_ fields: FieldTable, of bytes: Span<UInt8>, from start: Int, dropping: FieldSet) {
        var start = start
        if fields.hasNominated || !fields.present.isDisjoint(with: dropping) {
            var index = fields.firstDropped(from: 0, dropping: dropping)
            while index < fields.count {
                let line = fields[index].line
                if line.lowerBound > start { buffer.append(bytes.extracting(start..<line.lowerBound)) }
                start = line.upperBound
                index = fields.firstDropped(from: index &+ 1, dropping: dropping)
            }
        }
        if fields.end > start { buffer.append(bytes.extracting(start..<fields.end)) }
    }
}

extension ByteBuffer {
    /// Appends a literal. A bare literal would become a `String`, which costs more.
    @inline(__always)
    func append(literal text: StaticString) { append(text) }
}
