import Bytes
import Domains
import Model

/// The cookies that one origin has set for one session of the proxy (RFC 6265 section 5.3). They are sent to that
/// origin only. `Domain` does not widen that; it only has to match.
public struct CookieJar: Sendable {
    struct Cookie: Sendable {
        let name: [UInt8]
        let value: [UInt8]
        let path: [UInt8]
        /// The time of expiry; nil: the end of the session.
        let endsAt: WallTime?
    }

    public let origin: Origin
    /// The cookies in the order in which they are sent: longer paths first, then the older first.
    private(set) var cookies: [Cookie] = []
    /// The names of all cookies that the jar ever held.
    private var names: [[UInt8]] = []
    /// The cookies that the origin has deleted, by name and path. A client's cookie of that name and path is not sent
    /// either.
    private var ended: [(name: [UInt8], path: [UInt8])] = []

    private static let limit = 50
    private static let nameLimit = 200
    /// The limit of names and values in bytes, over all cookies.
    private static let sizeLimit = 16 * 1024

    public init(origin: Origin) { self.origin = origin }

    public var isEmpty: Bool { cookies.isEmpty }

    /// Whether a `Set-Cookie` field concerns a cookie of this session: its name is in the jar, or was.
    public func owns(_ field: Span<UInt8>) -> Bool {
        let given = field.extracting(CookieJar.SetCookie.name(in: field))
        return names.contains { $0.span.equals(given) }
    }

    /// Stores the cookie of a `Set-Cookie` field.
    ///
    /// - Parameter target: the target of the request that got the response.
    public mutating func take(_ field: Span<UInt8>, at target: Span<UInt8>, now: WallTime) {
        guard let new = CookieJar.SetCookie(field, at: now), admits(new) else { return }
        let path = new.path?.first == .slash ? new.path ?? [.slash] : Self.defaultPath(of: target)
        if Self.begins(new.name, with: "__host-"), path != [.slash] || new.path == nil { return }
        let old = cookies.firstIndex { $0.name == new.name && $0.path == path }
        ended.removeAll { $0.name == new.name && $0.path == path }
        if let endsAt = new.endsAt, endsAt <= now {
            if let old { cookies.remove(at: old) }
            if ended.count < Self.limit { ended.append((new.name, path)) }
            return
        }
        if !names.contains(new.name) {
            guard names.count < Self.nameLimit else { return }
            names.append(new.name)
        }
        let cookie = Cookie(name: new.name, value: new.value, path: path, endsAt: new.endsAt)
        if let old {
            cookies[old] = cookie
        } else {
            let position = cookies.firstIndex { $0.path.count < path.count } ?? cookies.count
            cookies.insert(cookie, at: position)
        }
        let size = cookies.reduce(0) { $0 + $1.name.count + $1.value.count }
        if cookies.count > Self.limit || size > Self.sizeLimit { cookies.removeAll { $0.name == new.name } }
    }

    /// Appends the cookies for a request to `value`, in the form of a `Cookie` field.
    ///
    /// - Returns: whether there are any.
    @discardableResult
    public func append(for target: Span<UInt8>, at now: WallTime, to value: ByteBuffer) -> Bool {
        var hasAny = false
        for index in cookies.indices where belongs(cookies[index], to: target, at: now) {
            if !value.isEmpty { value.append("; " as StaticString) }
            value.append(cookies[index].name)
            value.append(.equals)
            value.append(cookies[index].value)
            hasAny = true
        }
        return hasAny
    }

    /// Appends the cookies of a client's `Cookie` field. Leaves out those with a name that the jar sends in this
    /// request, or that the origin has deleted there.
    public func append(
        client field: Span<UInt8>, besidesThoseFor target: Span<UInt8>, at now: WallTime, to value: ByteBuffer
    ) {
        var start = 0
        while start < field.count {
            let end = field.firstIndex(of: .semicolon, in: start..<field.count) ?? field.count
            let pair = field.trimmingBlanks(start..<end)
            start = end + 1
            let name = field.trimmingBlanks(
                pair.lowerBound..<(field.firstIndex(of: .equals, in: pair) ?? pair.upperBound))
            if pair.isEmpty || decides(field.extracting(name), at: target, now) { continue }
            if !value.isEmpty { value.append("; " as StaticString) }
            value.append(field.extracting(pair))
        }
    }

    /// Whether the jar decides about the cookie of that name: it sends it there, or leaves it out.
    private func decides(_ name: Span<UInt8>, at target: Span<UInt8>, _ now: WallTime) -> Bool {
        if cookies.contains(where: { $0.name.span.equals(name) && belongs($0, to: target, at: now) }) { return true }
        return ended.contains { $0.name.span.equals(name) && Self.holds($0.path.span, target) }
    }

    private func belongs(_ cookie: Cookie, to target: Span<UInt8>, at now: WallTime) -> Bool {
        if let endsAt = cookie.endsAt, endsAt <= now { return false }
        return Self.holds(cookie.path.span, target)
    }

    /// Whether the path matches the target (section 5.1.4).
    private static func holds(_ path: Span<UInt8>, _ target: Span<UInt8>) -> Bool {
        let length = target.firstIndex(of: .question) ?? target.count
        guard path.count <= length, target.extracting(first: path.count).equals(path) else { return false }
        return path.count == length || path[path.count - 1] == .slash || target[path.count] == .slash
    }

    private func admits(_ new: CookieJar.SetCookie) -> Bool {
        let isSecure = origin.protocol == .https
        if new.isSecure, !isSecure { return false }
        // The prefixes of RFC 6265bis section 5.7.
        if Self.begins(new.name, with: "__secure-") || Self.begins(new.name, with: "__host-"), !new.isSecure {
            return false
        }
        guard let domain = new.domain, !domain.isEmpty else { return true }
        if Self.begins(new.name, with: "__host-") { return false }
        let host = Array(origin.host.utf8)
        if host == domain { return true }
        // Section 5.3, step 5: such a cookie would apply to every host below a public suffix.
        if PublicSuffix.contains(String(decoding: domain, as: UTF8.self)) == true { return false }
        // An address has no domain.
        return host.count > domain.count && host.suffix(domain.count).elementsEqual(domain)
            && host[host.count - domain.count - 1] == UInt8(ascii: ".") && IPAddress(origin.host) == nil
    }

    private static func begins(_ name: [UInt8], with prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return name.count >= length && name.span.extracting(first: length).equalsIgnoringCase(prefix)
    }

    /// The directory of the request's path (section 5.1.4).
    private static func defaultPath(of target: Span<UInt8>) -> [UInt8] {
        let path = target.extracting(first: target.firstIndex(of: .question) ?? target.count).array
        guard path.first == .slash, let last = path.lastIndex(of: .slash), last > 0 else { return [.slash] }
        return Array(path[..<last])
    }

    /// Whether two `Set-Cookie` fields of responses to one target concern the same cookie: equal name, domain and path.
    /// False for fields that a user agent ignores.
    public static func isSame(_ field: Span<UInt8>, as other: Span<UInt8>, at target: Span<UInt8>) -> Bool {
        guard let one = CookieJar.SetCookie(field, at: 0), let two = CookieJar.SetCookie(other, at: 0) else {
            return false
        }
        let paths = [one, two].map { $0.path?.first == .slash ? $0.path ?? [] : defaultPath(of: target) }
        return one.name == two.name && one.domain ?? [] == two.domain ?? [] && paths[0] == paths[1]
    }

    /// The parts of a `Set-Cookie` field (RFC 6265 section 5.2).
    fileprivate struct SetCookie {
        let name: [UInt8]
        let value: [UInt8]
        var domain: [UInt8]?
        var path: [UInt8]?
        var isSecure = false
        /// The time of expiry; nil: the end of the session.
        var endsAt: WallTime?

        private static let sizeLimit = 4096
        private static let attributeLimit = 1024

        /// Parses the field; nil if a user agent must ignore it.
        init?(_ field: Span<UInt8>, at now: WallTime) {
            let pairEnd = field.firstIndex(of: .semicolon) ?? field.count
            guard let equals = field.firstIndex(of: .equals, in: 0..<pairEnd) else { return nil }
            name = field.extracting(field.trimmingBlanks(0..<equals)).array
            value = field.extracting(field.trimmingBlanks(equals + 1..<pairEnd)).array
            guard !name.isEmpty, name.count + value.count <= Self.sizeLimit,
                (name + value).allSatisfy({ $0 >= .space && $0 != .delete })
            else { return nil }
            var hasMaxAge = false
            var start = pairEnd + 1
            while start < field.count {
                let end = field.firstIndex(of: .semicolon, in: start..<field.count) ?? field.count
                let equals = field.firstIndex(of: .equals, in: start..<end)
                let name = field.extracting(field.trimmingBlanks(start..<(equals ?? end)))
                let value = field.extracting(equals.map { field.trimmingBlanks($0 + 1..<end) } ?? end..<end)
                start = end + 1
                guard value.count <= Self.attributeLimit else { continue }
                if name.equalsIgnoringCase("max-age") {
                    guard let seconds = Self.seconds(value) else { continue }
                    hasMaxAge = true
                    endsAt = seconds <= 0 ? .distantPast : now + .seconds(seconds)
                } else if name.equalsIgnoringCase("expires") {
                    if !hasMaxAge { endsAt = HTTPDate.time(value) ?? endsAt }
                } else if name.equalsIgnoringCase("domain") {
                    let isDotted = value.count > 0 && value[0] == UInt8(ascii: ".")
                    domain = value.extracting(isDotted ? 1..<value.count : 0..<value.count).array.map(\.asciiLowercased)
                } else if name.equalsIgnoringCase("path") {
                    path = value.array
                } else if name.equalsIgnoringCase("secure") {
                    isSecure = true
                }
            }
        }

        /// The range of the cookie's name: the text before the first equals sign.
        static func name(in field: Span<UInt8>) -> Range<Int> {
            let pairEnd = field.firstIndex(of: .semicolon) ?? field.count
            return field.trimmingBlanks(0..<(field.firstIndex(of: .equals, in: 0..<pairEnd) ?? 0))
        }

        /// The seconds of a `Max-Age`; at most 400 days.
        private static func seconds(_ value: Span<UInt8>) -> Int? {
            let isNegative = value.count > 0 && value[0] == .hyphen
            let digits = value.extracting(isNegative ? 1..<value.count : 0..<value.count)
            guard digits.count > 0, digits.indices.allSatisfy({ digits[$0].isDigit }) else { return nil }
            if isNegative { return 0 }
            var seconds = 0
            for index in digits.indices { seconds = min(seconds * 10 + Int(digits[index] - 0x30), 400 * 86_400) }
            return seconds
        }
    }
}

extension CookieJar: CustomReflectable, CustomStringConvertible {
    public var customMirror: Mirror { Mirror(self, children: []) }
    public var description: String { "\(cookies.count) cookies of \(origin.host)" }
}
