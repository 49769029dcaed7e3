import Bytes
import Model

/// The destination of a page's reference or of a `Location` (RFC 3986 section 5.2, as tolerant as browsers).
public enum LoginReference: Sendable, Equatable {
    /// A target on the same server, in origin-form.
    case here(target: [UInt8])
    /// A different scheme, host or port, and so another protection space; as text for people.
    case elsewhere(String)

    private static let limit = 8 * 1024

    /// Resolves a reference; nil if it cannot be followed.
    ///
    /// - Parameter base: the target of the page or response that contains it.
    public init?(_ reference: some Sequence<UInt8>, from base: [UInt8], on origin: Origin) {
        guard let parts = Parts(reference) else { return nil }
        if let scheme = parts.scheme {
            guard scheme == "http" || scheme == "https", parts.authority != nil else { return nil }
        }
        if let authority = parts.authority {
            let scheme = parts.scheme ?? origin.protocol.rawValue
            guard origin.isNamed(by: authority.span), scheme == origin.protocol.rawValue else {
                self = .elsewhere("\(scheme)://\(Self.shown(authority))")
                return
            }
        }
        let basePath = Array(base.prefix { $0 != .question })
        var path: [UInt8]
        var query = parts.query
        if parts.authority != nil || parts.path.first == .slash {
            path = parts.path.isEmpty ? [.slash] : parts.path
        } else if parts.path.isEmpty {
            path = basePath
            if query == nil, basePath.count < base.count { query = Array(base[(basePath.count + 1)...]) }
        } else {
            path = Array(basePath[..<(basePath.lastIndex(of: .slash).map { $0 + 1 } ?? 0)]) + parts.path
        }
        path = Self.withoutDots(path)
        var target = Self.encoded(path)
        if let query { target += [.question] + Self.encoded(query) }
        guard target.count <= Self.limit else { return nil }
        self = .here(target: target)
    }

    /// Resolves a reference against a base that may be relative too, as far as that is possible without the page's
    /// address.
    static func join(_ reference: String, to base: String) -> String {
        guard let parts = Parts(reference.utf8), let baseParts = Parts(base.utf8), parts.scheme == nil,
            parts.authority == nil
        else { return reference }
        let place =
            (baseParts.scheme.map { "\($0):" } ?? "")
            + (baseParts.authority.map { "//" + String(decoding: $0, as: UTF8.self) } ?? "")
        var path = parts.path
        var query = parts.query
        if path.isEmpty {
            path = baseParts.path
            query = query ?? baseParts.query
        } else if path.first != .slash {
            let directory = baseParts.path[..<(baseParts.path.lastIndex(of: .slash).map { $0 + 1 } ?? 0)]
            path = Array(directory) + path
            if baseParts.authority != nil, path.first != .slash { path.insert(.slash, at: 0) }
        }
        return place + String(decoding: path, as: UTF8.self)
            + (query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? "")
    }

    /// Whether a target has that path, with nothing added but a query or one parameter of the last segment, for
    /// instance a session name. Servers disagree on the end of a parameter, so one with a slash in it, plain or
    /// encoded, could lead elsewhere.
    static func target(_ target: [UInt8], isAt path: ArraySlice<UInt8>) -> Bool {
        let own = Self.path(of: target)
        guard own.starts(with: path) else { return false }
        let added = own.dropFirst(path.count)
        return added.isEmpty || added.first == .semicolon && added.dropFirst().allSatisfy(isOfParameter)
    }

    /// The path of a target, without its query.
    static func path(of target: [UInt8]) -> ArraySlice<UInt8> { target.prefix { $0 != .question } }

    /// The path of a target as text for people.
    static func shownPath(of target: [UInt8]) -> String { shown(path(of: target)) }

    private static func isOfParameter(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._~!$'()*+,:=@".utf8.contains(byte)
    }

    // MARK: - Parts

    private struct Parts {
        var scheme: String?
        var authority: [UInt8]?
        var path: [UInt8]
        var query: [UInt8]?

        init?(_ reference: some Sequence<UInt8>) {
            // Line ends and tabs are removed everywhere, and a backslash is treated as a slash.
            var rest = reference.filter { $0 != .tab && $0 != .lineFeed && $0 != .carriageReturn }[...]
            rest = rest.drop { $0 <= .space }
            while let last = rest.last, last <= .space { rest.removeLast() }
            rest = rest.prefix { $0 != UInt8(ascii: "#") }
            guard rest.count <= LoginReference.limit else { return nil }
            if let question = rest.firstIndex(of: .question) {
                query = Array(rest[(question + 1)...])
                rest = rest[..<question]
            }
            var bytes = rest.map { $0 == .backslash ? .slash : $0 }[...]
            if let colon = bytes.firstIndex(of: .colon), Self.isScheme(bytes[..<colon]) {
                scheme = String(decoding: bytes[..<colon].map(\.asciiLowercased), as: UTF8.self)
                bytes = bytes[(colon + 1)...]
            }
            if bytes.starts(with: [.slash, .slash]) {
                bytes = bytes.dropFirst(2)
                let authority = bytes.prefix { $0 != .slash }
                self.authority = authority.map(\.asciiLowercased)
                bytes = bytes[authority.endIndex...]
            }
            path = Array(bytes)
        }

        private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard let first = bytes.first, first.isLetter else { return false }
            return bytes.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        }
    }

    private static func shown(_ authority: [UInt8]) -> String {
        // The text before an `@` may be a secret.
        shown(authority[(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...])
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        let isFit = { (byte: UInt8) in byte > .space && byte < .delete && byte != .quote }
        return String(decoding: bytes.prefix(255).map { isFit($0) ? $0 : .question }, as: UTF8.self)
    }

    private static func withoutDots(_ path: [UInt8]) -> [UInt8] {
        var segments: [ArraySlice<UInt8>] = []
        let all = path.dropFirst(path.first == .slash ? 1 : 0).split(
            separator: .slash, omittingEmptySubsequences: false)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch Array(segment) {
            case Array(".".utf8): if isLast { segments.append([]) }
            case Array("..".utf8):
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append([]) }
            default: segments.append(segment)
            }
        }
        return [.slash] + Array(segments.joined(separator: [.slash]))
    }

    /// Encodes the bytes that a target must not contain.
    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        for byte in bytes {
            if byte > .space, byte < .delete, byte != UInt8(ascii: "#") {
                encoded.append(byte)
            } else {
                encoded += Array("%\(Hex.encode([byte]).uppercased())".utf8)
            }
        }
        return encoded
    }
}
