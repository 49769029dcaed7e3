import Bytes
import Domains

/// A pattern for the host of a request. ASCII case is ignored:
///
///   - `*`: any host.
///   - `ci.example.com`: this name.
///   - `*.example.com`: any name below it, at any depth, but not the name itself.
///   - `ci-*.example.com`: `*` matches any characters within its label, also none.
///   - `10.0.0.7`, `10.0.0.0/8`, `::1`: an address, if the request names one. The addresses of a name are checked by
///     `egress`, never here.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    /// The reason why a text is not a pattern, as a sentence.
    public struct Fault: Error, Equatable, Sendable {
        public let sentence: String
        public let suggestion: String?
    }

    enum Form: Hashable, Sendable {
        case any
        case exact([UInt8])
        /// The end of a name, with its leading dot.
        case suffix([UInt8])
        /// Labels with `*` inside; `leading` says that any labels may precede them.
        case glob([UInt8], labels: Int, leading: Bool)
        case addresses(AddressPrefix)
    }

    let form: Form

    init(_ form: Form) {
        self.form = form
    }

    public init(_ text: String) throws(Fault) {
        var text = text
        if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
            text = String(text.dropFirst().dropLast())
        } else if text.utf8.count > 1, text.utf8.last == Self.dot {
            text.removeLast()
        }
        form = try Self.form(text)
    }

    /// The pattern in lower case, an address without brackets.
    public var description: String {
        switch form {
        case .any: "*"
        case .exact(let name): String(decoding: name, as: UTF8.self)
        case .suffix(let end): "*" + String(decoding: end, as: UTF8.self)
        case .glob(let pattern, _, let leading): (leading ? "*." : "") + String(decoding: pattern, as: UTF8.self)
        case .addresses(let prefix): prefix.description
        }
    }

    /// The one name or address that the pattern matches, in lower case; nil if it matches several.
    var singleHost: String? {
        switch form {
        case .exact: description
        case .addresses(let prefix): prefix.isSingle ? description : nil
        case .any, .suffix, .glob: nil
        }
    }

    /// The domain whose names below all match, or those of the same form; empty for any host. Nil for a single host,
    /// and for addresses.
    var openDomain: String? {
        switch form {
        case .any: return ""
        case .exact, .addresses: return nil
        case .suffix(let end): return String(decoding: end.dropFirst(), as: UTF8.self)
        case .glob(let pattern, _, _):
            let labels = String(decoding: pattern, as: UTF8.self).split(separator: ".")
            let open = labels.lastIndex { $0.contains("*") }.map { $0 + 1 } ?? 0
            return labels[open...].joined(separator: ".")
        }
    }

    /// Whether a host matches, and has the same owner as every other host that matches: the pattern is its name, or
    /// matches the names below a domain of one owner.
    func covers(_ host: Span<UInt8>) -> Bool {
        guard matches(host) else { return false }
        guard let domain = openDomain else { return true }
        return !domain.isEmpty && PublicSuffix.contains(domain) == false
    }

    /// Whether a host matches, in any spelling. Allocates only for an IPv4 address that is spelled as an IPv6 address.
    public func matches(_ host: Span<UInt8>) -> Bool {
        Self.withName(of: host) { matches(name: $0) }
    }

    private func matches(name host: Span<UInt8>) -> Bool {
        switch form {
        case .any:
            return true
        case .exact(let name):
            return host.equalsIgnoringCase(name.span)
        case .suffix(let end):
            return host.count > end.count
                && host.extracting((host.count - end.count)..<host.count).equalsIgnoringCase(end.span)
        case .glob(let pattern, let labels, let leading):
            guard let start = Self.start(of: labels, in: host), leading ? start > 1 : start == 0 else { return false }
            // Both have the same number of labels.
            return host.extracting(start..<host.count).matches(
                pattern: pattern.span, within: Self.dot, ignoringCase: true)
        case .addresses(let prefix):
            guard let address = Self.address(host) else { return false }
            return prefix.contains(address)
        }
    }

    /// Whether every host that matches `other` certainly matches this pattern.
    func covers(_ other: HostPattern) -> Bool {
        switch (form, other.form) {
        case (.any, _): true
        case (.addresses(let outer), .addresses(let inner)): outer.covers(inner)
        case (.addresses, _): false
        case (_, .exact(let name)): matches(name: name.span)
        case (.suffix(let outer), .suffix(let inner)): inner.suffix(outer.count) == outer[...]
        default: form == other.form
        }
    }

    /// Whether some host may match both patterns; false is certain.
    func mayOverlap(_ other: HostPattern) -> Bool {
        switch (form, other.form) {
        case (.any, _), (_, .any), (.glob, _), (_, .glob): true
        case (_, .exact(let name)): matches(name: name.span)
        case (.exact(let name), _): other.matches(name: name.span)
        default: covers(other) || other.covers(self)
        }
    }

    /// Calls `body` with the spelling that rules compare: without brackets and trailing dot. An IPv4 address that came
    /// as `::ffff:10.0.0.7` becomes the IPv4 address, so that it cannot evade a rule.
    static func withName<Result>(of host: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result {
        let name = host.extracting(host.bareHost)
        if name.count > 7, name[0] == .colon || name[0] == UInt8(ascii: "0"), name.firstIndex(of: .colon) != nil,
            let address = IPAddress(name)?.unmapped, address.family == .v4
        {
            return body(Array(address.description.utf8).span)
        }
        return body(name)
    }

    /// The address that a host spells; nil for a name.
    static func address(_ host: Span<UInt8>) -> IPAddress? {
        if host.firstIndex(of: .colon) != nil { return IPAddress(host)?.unmapped }
        guard (7...15).contains(host.count), host[host.count - 1].isDigit else { return nil }
        var bits: UInt32 = 0
        var parts = 0
        var digits = 0
        var value: UInt32 = 0
        for index in 0...host.count {
            if index < host.count, host[index].isDigit {
                // A decimal part must not have a leading zero: the system would read it as octal.
                guard digits < 3, digits == 0 || value > 0 else { return nil }
                value = value * 10 + UInt32(host[index] & 0xF)
                digits += 1
            } else {
                guard index == host.count || host[index] == dot, digits > 0, value <= 255, parts < 4 else { return nil }
                bits = bits << 8 | value
                parts += 1
                digits = 0
                value = 0
            }
        }
        return parts == 4 ? IPAddress(v4: bits) : nil
    }

    /// The start of the last `labels` labels of a host; nil if it has fewer.
    private static func start(of labels: Int, in host: Span<UInt8>) -> Int? {
        var left = labels
        var index = host.count
        while index > 0 {
            index -= 1
            if host[index] == dot {
                left -= 1
                if left == 0 { return index + 1 }
            }
        }
        return left == 1 ? 0 : nil
    }

    private static func form(_ text: String) throws(Fault) -> Form {
        if text == "*" { return .any }
        do throws(AddressPrefix.Fault) {
            let prefix = try AddressPrefix(text)
            // One IPv4 address has one spelling, so it can be found like a name.
            if prefix.address.family == .v4, prefix.length == 32 { return .exact(Array(prefix.description.utf8)) }
            return .addresses(prefix)
        } catch {
            switch error {
            case .hostBits(let block):
                throw Fault(sentence: "the address has bits set after its prefix", suggestion: "\(block)")
            case .badLength:
                throw Fault(sentence: "the prefix length is too large for the address", suggestion: nil)
            case .notAnAddress: break
            }
        }
        let bytes = text.utf8.map(\.asciiLowercased)
        let isLeading = bytes.starts(with: [star, dot])
        let rest = isLeading ? Array(bytes[2...]) : bytes
        if rest.first == dot, !isLeading, (try? check(Array(rest.dropFirst()))) != nil {
            throw Fault(
                sentence: "for all names below a domain write '*.'; for the domain itself, write it as another value",
                suggestion: "*" + text)
        }
        try check(rest)
        guard rest.contains(star) else { return isLeading ? .suffix([dot] + rest) : .exact(rest) }
        return .glob(rest, labels: rest.count { $0 == dot } + 1, leading: isLeading)
    }

    private static func check(_ bytes: [UInt8]) throws(Fault) {
        if bytes.contains(.slash) {
            let rest = bytes[(bytes.firstIndex(ofWord: "://").map { $0 + 3 } ?? 0)...]
            let host = String(decoding: rest.prefix { $0 != .slash && $0 != .colon }, as: UTF8.self)
            throw Fault(sentence: "expected a host, not a URL or a path", suggestion: host.isEmpty ? nil : host)
        }
        if bytes.contains(where: { $0 >= 0x80 }) {
            throw Fault(sentence: "write a host beyond ASCII in its xn-- form (RFC 5891)", suggestion: nil)
        }
        let isName = { (byte: UInt8) in
            byte.isDigit || (0x61...0x7A).contains(byte) || byte == star || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
        let labels = bytes.split(separator: dot, omittingEmptySubsequences: false)
        if bytes.count > 253 || labels.contains(where: { $0.count > 63 || !$0.allSatisfy(isName) }) {
            throw Fault(sentence: "expected a host name or an address", suggestion: nil)
        }
        if labels.contains(where: \.isEmpty) {
            throw Fault(sentence: "a host name has no empty label", suggestion: nil)
        }
    }

    private static let star = UInt8(ascii: "*")
    private static let dot = UInt8(ascii: ".")
}
