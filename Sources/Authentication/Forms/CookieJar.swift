import Bytes

/// The cookies that one origin has set for one session of ours (RFC 6265 section 5.3). They go back to that origin and to
/// nobody else, whatever their `Domain` says, so it only has to fit.
public struct CookieJar: Sendable {
    struct Cookie: Sendable {
        let name: [UInt8]
        let value: [UInt8]
        let path: [UInt8]
        /// Milliseconds since 1970; nil: with the session.
        let endsAt: Int?
    }

    public let origin: Origin
    /// Longer paths first, of equals the older first: the order in which they are sent.
    private(set) var cookies: [Cookie] = []
    /// Of all cookies that it ever held.
    private var names: [[UInt8]] = []

    private static let limit = 50
    private static let nameLimit = 200
    /// Names and values, over all cookies.
    private static let sizeLimit = 16 * 1024

    public init(origin: Origin) { self.origin = origin }

    public var isEmpty: Bool { cookies.isEmpty }

    /// Whether a `Set-Cookie` field is about a cookie of this session: one of a name that it has, or once had.
    public func owns(_ field: Span<UInt8>) -> Bool {
        let given = field.extracting(SetCookie.name(in: field))
        for index in names.indices {
            let name = names[index]
            if name.span.equals(given) { return true }
        }
        return false
    }

    /// Takes the value of a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - target: of the request that was answered with it.
    ///   - now: milliseconds since 1970.
    public mutating func take(_ field: Span<UInt8>, at target: Span<UInt8>, now: Int) {
        guard let new = SetCookie(field, at: now), admits(new) else { return }
        let path = new.path?.first == .slash ? new.path ?? [.slash] : Self.defaultPath(of: target)
        if Self.begins(new.name, with: "__host-"), path != [.slash] || new.path == nil { return }
        let old = cookies.firstIndex { $0.name == new.name && $0.path == path }
        if let endsAt = new.endsAt, endsAt <= now {
            if let old { cookies.remove(at: old) }
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
            let place = cookies.firstIndex { $0.path.count < path.count } ?? cookies.count
            cookies.insert(cookie, at: place)
        }
        let size = cookies.reduce(0) { $0 + $1.name.count + $1.value.count }
        if cookies.count > Self.limit || size > Self.sizeLimit { cookies.removeAll { $0.name == new.name } }
    }

    /// Appends those that belong to a request, as they stand in a `Cookie` field, behind what is there already.
    ///
    /// - Returns: whether there are any.
    @discardableResult
    public func append(for target: Span<UInt8>, at now: Int, to value: ByteBuffer) -> Bool {
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

    /// Appends what a client's own `Cookie` field holds, but for cookies of a name that is ours in this request.
    public func append(
        client field: Span<UInt8>, besidesThoseFor target: Span<UInt8>, at now: Int, to value: ByteBuffer
    ) {
        var start = 0
        while start < field.count {
            let end = field.firstIndex(of: .semicolon, in: start..<field.count) ?? field.count
            let pair = field.trimmingBlanks(start..<end)
            start = end + 1
            let name = field.trimmingBlanks(
                pair.lowerBound..<(field.firstIndex(of: .equals, in: pair) ?? pair.upperBound))
            if pair.isEmpty || sends(field.extracting(name), to: target, at: now) { continue }
            if !value.isEmpty { value.append("; " as StaticString) }
            value.append(field.extracting(pair))
        }
    }

    private func sends(_ name: Span<UInt8>, to target: Span<UInt8>, at now: Int) -> Bool {
        for index in cookies.indices {
            let own = cookies[index].name
            if own.span.equals(name), belongs(cookies[index], to: target, at: now) { return true }
        }
        return false
    }

    private func belongs(_ cookie: Cookie, to target: Span<UInt8>, at now: Int) -> Bool {
        if let endsAt = cookie.endsAt, endsAt <= now { return false }
        let path = cookie.path.span
        // Section 5.1.4.
        let length = target.firstIndex(of: .question) ?? target.count
        guard path.count <= length, target.extracting(first: path.count).equals(path) else { return false }
        return path.count == length || path[path.count - 1] == .slash || target[path.count] == .slash
    }

    private func admits(_ new: SetCookie) -> Bool {
        let isSecure = origin.protocol == .https
        if new.isSecure, !isSecure { return false }
        // RFC 6265bis section 5.7.
        if Self.begins(new.name, with: "__secure-") || Self.begins(new.name, with: "__host-"), !new.isSecure {
            return false
        }
        guard let domain = new.domain, !domain.isEmpty else { return true }
        if Self.begins(new.name, with: "__host-") { return false }
        let host = Array(origin.host.utf8)
        if host == domain { return true }
        // An address has no domain.
        return host.count > domain.count && host.suffix(domain.count).elementsEqual(domain)
            && host[host.count - domain.count - 1] == UInt8(ascii: ".") && IPAddress(origin.host) == nil
    }

    private static func begins(_ name: [UInt8], with prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return name.count >= length && name.span.extracting(first: length).equalsIgnoringCase(prefix)
    }

    /// Section 5.1.4: the directory of the request's path.
    private static func defaultPath(of target: Span<UInt8>) -> [UInt8] {
        let path = target.extracting(first: target.firstIndex(of: .question) ?? target.count).array
        guard path.first == .slash, let last = path.lastIndex(of: .slash), last > 0 else { return [.slash] }
        return Array(path[..<last])
    }
}

extension CookieJar: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CookieJar: CustomStringConvertible {
    public var description: String { "\(cookies.count) cookies of \(origin.host)" }
}
