import Bytes

/// An origin that clients address as `http` and that is reached as `https`, with the names on each side.
///
/// If a field of a head contains a URL of the origin, it is changed to the name on the other side. Only URLs with
/// exactly the scheme, host and port of this origin change, and only in fields whose syntax has a URL. A URL with user
/// information is left unchanged. Nothing is allocated.
///
/// A class, made once for an origin: each request refers to it.
public final class UpgradedOrigin: Sendable {
    /// The host in its canonical spelling.
    private let host: [UInt8]
    private let isBracketed: Bool
    /// The port of the client's `http` URLs.
    public let clientPort: UInt16
    /// The port on which the origin uses TLS.
    public let originPort: UInt16

    static let usualClientPort: UInt16 = 80
    static let usualOriginPort: UInt16 = 443

    /// - Parameter host: the host in its canonical spelling (`HostSpelling`).
    public init(host: [UInt8], clientPort: UInt16, originPort: UInt16) {
        self.host = host
        isBracketed = host.contains(.colon)
        self.clientPort = clientPort
        self.originPort = originPort
    }

    /// The side whose name for the origin is used.
    enum Side {
        case client
        case origin
    }

    /// Appends `value`. If it is a URL of the origin in the form of the other side, it is changed to that of `side`.
    /// - Parameter offset: the start of the URL; what is before it stays as it is.
    func append(url value: Span<UInt8>, at offset: Int = 0, namedFor side: Side, to buffer: ByteBuffer) {
        buffer.append(value.extracting(first: offset))
        let rest = appendAuthority(value, urlAt: offset, namedFor: side, to: buffer)
        buffer.append(value.extracting(rest..<value.count))
    }

    /// Appends `value`, whose URLs are in `<` and `>` (RFC 8288 section 3, RFC 4918 section 10.4).
    func append(bracketed value: Span<UInt8>, namedFor side: Side, to buffer: ByteBuffer) {
        var start = 0
        while let bracket = value.firstIndex(of: UInt8(ascii: "<"), from: start) {
            buffer.append(value.extracting(start..<bracket &+ 1))
            start = appendAuthority(value, urlAt: bracket &+ 1, namedFor: side, to: buffer)
        }
        buffer.append(value.extracting(start..<value.count))
    }

    /// Appends the value of `Refresh`: seconds, and after `;` or `,` a URL, perhaps after `url=` and in quotes.
    func append(refresh value: Span<UInt8>, to buffer: ByteBuffer) {
        var start = 0
        while start < value.count, value[start] != .semicolon, value[start] != .comma { start &+= 1 }
        start = Self.skipBlanks(value, from: start &+ 1)
        if start &+ 3 < value.count, value.extracting(start..<start &+ 3).equalsIgnoringCase("url") {
            let equals = Self.skipBlanks(value, from: start &+ 3)
            if equals < value.count, value[equals] == .equals { start = Self.skipBlanks(value, from: equals &+ 1) }
        }
        if start < value.count, value[start] == .quote || value[start] == UInt8(ascii: "'") { start &+= 1 }
        append(url: value, at: min(start, value.count), namedFor: .client, to: buffer)
    }

    /// Appends the value of `Set-Cookie` without its `Secure` attribute: the client got the cookie from an `http` URL
    /// and must send it there (RFC 6265 section 5.4). A cookie with a `Domain` keeps the attribute: the client would
    /// send it unencrypted to other hosts, which are not upgraded.
    func append(cookie value: Span<UInt8>, to buffer: ByteBuffer) {
        guard !Self.hasDomain(value) else { return buffer.append(value) }
        var start = 0
        while start < value.count {
            let end = value.firstIndex(of: .semicolon, from: start &+ 1) ?? value.count
            if start == 0 || !Self.isAttribute("secure", value, in: start &+ 1..<end) {
                buffer.append(value.extracting(start..<end))
            }
            start = end
        }
    }

    /// Appends host and port for a Host field to the origin; `host` is the client's spelling.
    func append(hostField host: Span<UInt8>, to buffer: ByteBuffer) {
        buffer.append(host)
        appendPort(originPort, unless: Self.usualOriginPort, to: buffer)
    }

    private static func hasDomain(_ value: Span<UInt8>) -> Bool {
        var start = value.firstIndex(of: .semicolon, from: 0) ?? value.count
        while start < value.count {
            let end = value.firstIndex(of: .semicolon, from: start &+ 1) ?? value.count
            if isAttribute("domain", value, in: start &+ 1..<end) { return true }
            start = end
        }
        return false
    }

    private static func isAttribute(_ name: StaticString, _ value: Span<UInt8>, in range: Range<Int>) -> Bool {
        let nameEnd = value.firstIndex(of: .equals, in: range) ?? range.upperBound
        return value.extracting(value.trimmingBlanks(range.lowerBound..<nameEnd)).equalsIgnoringCase(name)
    }

    private static func skipBlanks(_ value: Span<UInt8>, from start: Int) -> Int {
        var start = start
        while start < value.count, value[start].isBlank { start &+= 1 }
        return start
    }

    /// Appends scheme, host and port for `side` if those of the other side are at `offset`.
    /// - Returns: the start of the rest of the value; `offset` if nothing was appended.
    private func appendAuthority(
        _ value: Span<UInt8>, urlAt offset: Int, namedFor side: Side, to buffer: ByteBuffer
    ) -> Int {
        guard let end = endOfAuthority(value, at: offset, named: side == .client ? .origin : .client) else {
            return offset
        }
        buffer.append(literal: side == .client ? "http://" : "https://")
        if isBracketed { buffer.append(UInt8(ascii: "[")) }
        buffer.append(host)
        if isBracketed { buffer.append(UInt8(ascii: "]")) }
        switch side {
        case .client: appendPort(clientPort, unless: Self.usualClientPort, to: buffer)
        case .origin: appendPort(originPort, unless: Self.usualOriginPort, to: buffer)
        }
        return end
    }

    private func appendPort(_ port: UInt16, unless usual: UInt16, to buffer: ByteBuffer) {
        if port == usual { return }
        buffer.append(.colon)
        buffer.append(decimal: Int(port))
    }

    /// The end of the authority of a URL at `offset` that names the origin in the form of `side`; nil for other text.
    private func endOfAuthority(_ value: Span<UInt8>, at offset: Int, named side: Side) -> Int? {
        let scheme: StaticString = side == .client ? "http://" : "https://"
        let hostStart = offset &+ scheme.utf8CodeUnitCount
        guard hostStart <= value.count, value.extracting(offset..<hostStart).equalsIgnoringCase(scheme),
            let hostEnd = endOfHost(value, at: hostStart)
        else { return nil }
        var port: UInt32 = 0
        var end = hostEnd
        if end < value.count, value[end] == .colon {
            end &+= 1
            while end < value.count, value[end].isDigit, port < 10_000 {
                port = port &* 10 &+ UInt32(value[end] &- 0x30)
                end &+= 1
            }
        }
        let (named, usual) = side == .client ? (clientPort, Self.usualClientPort) : (originPort, Self.usualOriginPort)
        guard (port == 0 ? UInt32(usual) : port) == UInt32(named) else { return nil }
        return end == value.count || Self.endsAuthority(value[end]) ? end : nil
    }

    private func endOfHost(_ value: Span<UInt8>, at offset: Int) -> Int? {
        guard offset < value.count else { return nil }
        let end: Int
        if value[offset] == UInt8(ascii: "[") {
            guard let close = value.firstIndex(of: UInt8(ascii: "]"), from: offset) else { return nil }
            end = close &+ 1
        } else {
            end = value.endOfHostName(in: offset..<value.count)
        }
        let host = host
        return value.extracting(offset..<end).isSpelling(of: host.span) ? end : nil
    }

    /// The characters that may follow host and port. Any other one, above all `@`, makes it another host's URL.
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case .slash, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ">"), .quote, UInt8(ascii: "'"), .space, .tab:
            true
        default: false
        }
    }

    /// The treatment of a field in an upgrade.
    enum Treatment {
        case kept
        case dropped
        /// The value is a URL.
        case url
        /// The URLs are in angle brackets.
        case bracketed
        case refresh
        case cookie
    }

    /// The change of a response's field for a client that uses `http`.
    ///
    /// `Strict-Transport-Security` and `Alt-Svc` are dropped, since they would make the client leave the configured
    /// route. `Link` is changed, since clients use it for paging.
    static func treatmentOfResponse(_ name: Span<UInt8>) -> Treatment {
        switch name.count {
        case 4 where name.equalsIgnoringCase("link"): .bracketed
        case 7 where name.equalsIgnoringCase("refresh"): .refresh
        case 7 where name.equalsIgnoringCase("alt-svc"): .dropped
        case 8 where name.equalsIgnoringCase("location"): .url
        case 10 where name.equalsIgnoringCase("set-cookie"): .cookie
        case 16 where name.equalsIgnoringCase("content-location"): .url
        case 25 where name.equalsIgnoringCase("strict-transport-security"): .dropped
        default: .kept
        }
    }

    /// The change of a request's field for the origin. A server that checks `Referer` or `Origin` expects its own name.
    /// WebDAV (RFC 4918 sections 10.3 and 10.4) names the origin in `Destination` and `If`.
    static func treatmentOfRequest(_ name: Span<UInt8>) -> Treatment {
        switch name.count {
        case 2 where name.equalsIgnoringCase("if"): .bracketed
        case 6 where name.equalsIgnoringCase("origin"): .url
        case 7 where name.equalsIgnoringCase("referer"): .url
        case 11 where name.equalsIgnoringCase("destination"): .url
        default: .kept
        }
    }
}

extension HeadWriter {
    /// Copies as `copy` does, and changes the fields that name the origin to the form of `side`.
    func copy(
        _ fields: FieldTable, of bytes: Span<UInt8>, from start: Int, dropping: FieldSet,
        through upgrade: UpgradedOrigin, namedFor side: UpgradedOrigin.Side
    ) {
        var start = start
        for field in fields {
            var treatment = UpgradedOrigin.Treatment.dropped
            if !field.isNominated, !dropping.contains(field.known) {
                let name = bytes.extracting(field.name)
                treatment =
                    side == .client ? UpgradedOrigin.treatmentOfResponse(name) : UpgradedOrigin.treatmentOfRequest(name)
            }
            if treatment == .kept { continue }
            let (line, value) = (field.line, bytes.extracting(field.value))
            let isDropped = treatment == .dropped
            buffer.append(bytes.extracting(start..<(isDropped ? line.lowerBound : field.value.lowerBound)))
            start = isDropped ? line.upperBound : field.value.upperBound
            switch treatment {
            case .kept, .dropped: break
            case .url: upgrade.append(url: value, namedFor: side, to: buffer)
            case .bracketed: upgrade.append(bracketed: value, namedFor: side, to: buffer)
            case .refresh: upgrade.append(refresh: value, to: buffer)
            case .cookie: upgrade.append(cookie: value, to: buffer)
            }
        }
        if fields.end > start { buffer.append(bytes.extracting(start..<fields.end)) }
    }
}
