import Bytes

/// The fields a proxy reads, writes or removes. All others are `other`, and only their bytes tell them apart.
public enum KnownField: UInt8, Sendable, CaseIterable {
    case other
    case acceptEncoding, authenticationInfo, authorization, connection, contentEncoding, contentLength, contentRange
    case contentType, cookie, date, etag, expect, host, keepAlive, location, maxForwards, proxyAuthenticate
    case proxyAuthenticationInfo, proxyAuthorization, proxyConnection, proxyStatus, proxySupport, referer, retryAfter
    case setCookie, te, trailer, transferEncoding, upgrade, userAgent, via, wwwAuthenticate
}

extension KnownField {
    /// By raw value, from 1.
    static let names = NameTable([
        "accept-encoding", "authentication-info", "authorization", "connection", "content-encoding", "content-length",
        "content-range", "content-type", "cookie", "date", "etag", "expect", "host", "keep-alive", "location",
        "max-forwards", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection",
        "proxy-status", "proxy-support", "referer", "retry-after", "set-cookie", "te", "trailer", "transfer-encoding",
        "upgrade", "user-agent", "via", "www-authenticate",
    ])

    /// The field whose name stands there, all of it token bytes.
    init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        self = KnownField(rawValue: Self.names.ordinal(of: range, in: bytes)) ?? .other
    }
}
