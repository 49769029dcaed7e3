import Bytes

/// A request target in one of its four forms (RFC 9112 section 3.2), as offsets from the start of the head.
public struct RequestTarget: Sendable {
    public enum Form: UInt8, Sendable {
        /// The origin-form: `/path?query`
        case origin
        /// The absolute-form: `scheme://authority/path?query`
        case absolute
        /// The authority-form of CONNECT: `host:port`
        case authority
        /// The asterisk-form of OPTIONS: `*`. An absolute target of OPTIONS without path and query means the same
        /// (section 3.2.4).
        case asterisk
    }

    public internal(set) var form: Form = .origin
    /// The target, unchanged.
    public internal(set) var text = 0..<0
    /// The scheme; nil if the target has none. `schemeName` is its name.
    public internal(set) var scheme: Scheme?
    public internal(set) var schemeName = 0..<0
    /// The `user[:password]` before the `@`, still percent-encoded: secret.
    public internal(set) var userinfo: Range<Int>?
    public internal(set) var authority: Authority?
    /// Path and query, unchanged. It may be empty or begin with `?`; `appendOriginForm` adds the slash.
    public internal(set) var path = 0..<0

    /// Appends path and query for an origin server: never empty, without re-encoding.
    public func appendOriginForm(_ bytes: Span<UInt8>, to buffer: ByteBuffer) {
        if form == .asterisk {
            buffer.append(UInt8(ascii: "*"))
            return
        }
        if path.isEmpty || bytes[path.lowerBound] != .slash { buffer.append(.slash) }
        buffer.append(bytes.extracting(path))
    }
}

extension RequestTarget {
    /// Reads the target in `range`, whose bytes are visible ASCII without `#`.
    init(
        visible bytes: Span<UInt8>, in range: Range<Int>, method: Method, recent: inout RecentAuthority
    ) throws(Defect) {
        text = range
        guard let first = range.first else { throw .malformedRequestLine }
        if method == .connect {
            form = .authority
            let authority = try Authority(bytes, in: range)
            guard authority.explicitPort != nil else { throw .missingPort }
            self.authority = authority
        } else if bytes[first] == .slash {
            path = range
        } else if bytes[first] == UInt8(ascii: "*") {
            guard range.count == 1, method == .options else { throw .malformedTarget }
            form = .asterisk
        } else {
            try readAbsolute(bytes, method: method, recent: &recent)
        }
    }

    private mutating func readAbsolute(
        _ bytes: Span<UInt8>, method: Method, recent: inout RecentAuthority
    ) throws(Defect) {
        let start = try readScheme(bytes)
        if let known = recent.read(bytes, from: start, to: text.upperBound) {
            authority = known
            path = known.text.upperBound..<text.upperBound
        } else if let plain = Authority(plainAt: start, to: text.upperBound, of: bytes) {
            recent.remember(plain, of: bytes)
            authority = plain
            path = plain.text.upperBound..<text.upperBound
        } else {
            try readAuthority(bytes, from: start)
        }
        form = path.isEmpty && method == .options ? .asterisk : .absolute
    }

    private mutating func readAuthority(_ bytes: Span<UInt8>, from start: Int) throws(Defect) {
        var end = start
        var at: Int?
        while end < text.upperBound, bytes[end] != .slash, bytes[end] != UInt8(ascii: "?") {
            if bytes[end] == UInt8(ascii: "@") {
                guard at == nil else { throw .malformedUserinfo }
                at = end
            }
            end &+= 1
        }
        var host = start
        if let at {
            guard Self.isUserinfo(bytes, in: start..<at) else { throw .malformedUserinfo }
            userinfo = start..<at
            host = at &+ 1
        }
        authority = try Authority(bytes, in: host..<end)
        path = end..<text.upperBound
    }

    /// Reads the scheme and `://`; returns the start of the authority.
    private mutating func readScheme(_ bytes: Span<UInt8>) throws(Defect) -> Int {
        let start = text.lowerBound
        if bytes.holds("http://", at: start), text.count > 7 {
            scheme = .http
            schemeName = start..<start &+ 4
            return start &+ 7
        }
        var end = start
        while end < text.upperBound, Self.isSchemeByte(bytes[end], first: end == start) { end &+= 1 }
        guard end > start, text.upperBound &- end >= 3, bytes.holds("://", at: end) else {
            throw .malformedTarget
        }
        schemeName = start..<end
        scheme = Scheme(bytes.extracting(schemeName))
        return end &+ 3
    }

    private static func isSchemeByte(_ byte: UInt8, first: Bool) -> Bool {
        if (byte | 0x20) &- 0x61 < 26 { return true }
        if first { return false }
        return byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// Unreserved characters, sub-delimiters, `%` and `:` (RFC 3986 section 3.2.1). With a backslash or bracket here
    /// one URL can be made to name two hosts.
    private static func isUserinfo(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        for offset in range {
            switch bytes[offset] {
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "["), UInt8(ascii: "\\"),
                UInt8(ascii: "]"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
                UInt8(ascii: "}"):
                return false
            default: break
            }
        }
        return true
    }
}

/// The scheme of an absolute-form target.
public enum Scheme: UInt8, Sendable {
    case http, https, ftp
    case other

    /// The port of an authority without one; nil for an unknown scheme.
    public var defaultPort: UInt16? {
        switch self {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .other: nil
        }
    }

    /// Reads the scheme with that name, in any case (RFC 3986 section 3.1).
    init(_ name: Span<UInt8>) {
        if name.equalsIgnoringCase("http") {
            self = .http
        } else if name.equalsIgnoringCase("https") {
            self = .https
        } else {
            self = name.equalsIgnoringCase("ftp") ? .ftp : .other
        }
    }
}
