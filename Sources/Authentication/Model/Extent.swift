import Bytes
import Model

/// The request targets of an origin that belong to a protection space, as far as one challenge shows.
public enum Extent: Sendable, Hashable {
    /// Everything on the origin; always the case for a proxy.
    case origin
    /// Targets that begin with one of these paths.
    case prefixes([[UInt8]])

    /// The extent of a challenge that covers no other target.
    static let nothing = Extent.prefixes([])

    /// The size of the paths, in bytes.
    var byteCount: Int {
        switch self {
        case .origin: 0
        case .prefixes(let prefixes): prefixes.reduce(0) { $0 + $1.count }
        }
    }

    /// The length of the longest prefix that covers the target; nil if the target is outside.
    ///
    /// A path that servers may resolve in more than one way is outside every prefix.
    public func coverage(of target: Span<UInt8>) -> Int? {
        switch self {
        case .origin: return 0
        case .prefixes(let prefixes):
            var longest: Int?
            for index in prefixes.indices {
                let prefix = prefixes[index]
                if prefix.count > longest ?? -1, prefix.count <= target.count,
                    target.extracting(first: prefix.count).equals(prefix.span)
                {
                    longest = prefix.count
                }
            }
            return longest == nil || Self.isAmbiguous(target) ? nil : longest
        }
    }

    /// The directory of the challenged path and everything below it (RFC 7617 section 2.2). A target without a path, as
    /// proxies get it, covers everything. An ambiguous path covers nothing, since its directory is unknown.
    static func directory(of target: Span<UInt8>) -> Extent {
        guard target.count > 0, target[0] == .slash else { return .origin }
        guard !isAmbiguous(target) else { return .nothing }
        let path = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        var end = path
        while end > 1, target[end - 1] != .slash { end -= 1 }
        return end == 1 ? .origin : .prefixes([target.extracting(first: end).array])
    }

    /// The part of an extent that is removed with a target: its directory if that is only a part, else its own path.
    ///
    /// - Parameter length: the length of the target's prefix in the extent.
    static func exclusion(of target: Span<UInt8>, from length: Int) -> Extent {
        let directory = directory(of: target)
        if let covered = directory.coverage(of: target), covered > length { return directory }
        let path = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        return .prefixes([target.extracting(first: path).array])
    }

    /// The paths on this origin in a Digest challenge's `domain` (RFC 7616 section 3.3); without `domain`, the whole
    /// origin. Entries for other origins are ignored: a server must not decide where another origin's credential is
    /// sent.
    static func domain(_ value: [UInt8]?, of space: ProtectionSpace, challengedAt target: Span<UInt8>) -> Extent {
        guard let value, !space.isProxy else { return .origin }
        let entries = value.split(whereSeparator: \.isBlank).prefix(32)
        if entries.isEmpty { return .origin }
        let prefixes = entries.compactMap { path(ofURI: $0, on: space.origin) }
        if prefixes.isEmpty { return directory(of: target) }
        return prefixes.contains([.slash]) ? .origin : .prefixes(prefixes)
    }

    /// The path of an absolute path or of a URI on this origin, else nil.
    private static func path(ofURI uri: ArraySlice<UInt8>, on origin: Origin) -> [UInt8]? {
        if uri.first == .slash { return uri.dropFirst().first == .slash ? nil : Array(uri) }
        let scheme = Array("\(origin.protocol.rawValue)://".utf8)
        guard uri.prefix(scheme.count).map(\.asciiLowercased) == scheme else { return nil }
        let rest = Array(uri.dropFirst(scheme.count))
        let end = rest.firstIndex(of: .slash) ?? rest.count
        guard origin.isNamed(by: rest.span.extracting(first: end)) else { return nil }
        return end == rest.count ? [.slash] : Array(rest[end...])
    }

    /// Whether servers could resolve the path differently: it has a dot segment, a backslash, an encoded slash,
    /// backslash or per cent sign, an octet that is not valid in UTF-8 or begins an overlong form (RFC 3629 section
    /// 10), or a per cent sign that encodes nothing.
    private static func isAmbiguous(_ target: Span<UInt8>) -> Bool {
        let end = target.firstIndex(of: .question) ?? target.count
        var offset = 0
        while offset < end {
            let byte = target[offset]
            if byte == .slash {
                if isDot(target, at: offset + 1, before: end) { return true }
            } else if byte == .backslash || byte == .percent || byte >= 0x80 {
                guard let octet = octet(of: target, at: offset, before: end) else { return true }
                let next = offset + (byte == .percent ? 3 : 1)
                switch octet {
                case .slash, .backslash, .percent: return true
                case 0x80...: if isOverlong(octet, self.octet(of: target, at: next, before: end) ?? 0) { return true }
                default: break
                }
                offset = next
                continue
            }
            offset += 1
        }
        return false
    }

    /// The octet at that offset, plain or encoded; nil at the end, and for a per cent sign that encodes none.
    private static func octet(of target: Span<UInt8>, at offset: Int, before end: Int) -> UInt8? {
        guard offset < end else { return nil }
        guard target[offset] == .percent else { return target[offset] }
        guard offset + 2 < end, let high = target[offset + 1].hexValue, let low = target[offset + 2].hexValue else {
            return nil
        }
        return high << 4 | low
    }

    /// Whether a lax decoder could read an ASCII character from two octets or more that begin with these.
    private static func isOverlong(_ lead: UInt8, _ next: UInt8) -> Bool {
        switch (lead, next) {
        case (0xC0...0xC1, _), (0xE0, 0x80..<0xA0), (0xF0, 0x80..<0x90), (0xF8, 0x80..<0x88), (0xFC, 0x80..<0x84): true
        default: false
        }
    }

    /// Whether a segment that begins here could be `.` or `..`, plain or with `%2e`. Some servers end a segment at `;`,
    /// a backslash or an encoded slash before they resolve it, so these may follow.
    private static func isDot(_ target: Span<UInt8>, at start: Int, before end: Int) -> Bool {
        var offset = start
        var dots = 0
        while dots < 2, offset < end {
            if target[offset] == UInt8(ascii: ".") {
                offset += 1
            } else if offset + 2 < end, target[offset] == .percent, target[offset + 1] == UInt8(ascii: "2"),
                target[offset + 2].asciiLowercased == UInt8(ascii: "e")
            {
                offset += 3
            } else {
                break
            }
            dots += 1
        }
        if dots == 0 || offset == end { return dots > 0 }
        return switch target[offset] {
        case .slash, .semicolon, .backslash, .percent: true
        default: false
        }
    }
}
