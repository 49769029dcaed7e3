import Bytes

/// A set of known fields, one bit each. It never contains `other`.
public struct FieldSet: OptionSet, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public init(_ field: KnownField) { rawValue = 1 &<< UInt64(field.rawValue) & ~1 }

    public init(_ fields: KnownField...) {
        rawValue = fields.reduce(0) { $0 | FieldSet($1).rawValue }
    }

    public func contains(_ field: KnownField) -> Bool {
        rawValue &>> UInt64(field.rawValue) & 1 != 0
    }

    public mutating func insert(_ field: KnownField) { self = union(FieldSet(field)) }

    // Constants as expressions of single bits, which need no initialisation at run time.

    /// The fields that concern one connection only and never pass the proxy (RFC 9110 section 7.6.1), and the
    /// credentials and challenges between a client and its proxy (section 11.7). `Transfer-Encoding` is not included:
    /// it depends on the body's framing. Nor is `Trailer`: section 6.6.2 keeps it as a hint about the trailer section.
    public static var hopByHop: FieldSet {
        FieldSet(.connection).union(FieldSet(.proxyConnection)).union(FieldSet(.keepAlive)).union(FieldSet(.te))
            .union(FieldSet(.upgrade)).union(FieldSet(.proxyAuthorization)).union(FieldSet(.proxyAuthenticate))
            .union(FieldSet(.proxyAuthenticationInfo))
    }

    /// The fields that a `Connection` field must not remove from a message: its destination, its end, its limit of
    /// hops, and its sender.
    public static var essential: FieldSet {
        FieldSet(.host).union(FieldSet(.contentLength)).union(FieldSet(.contentEncoding)).union(FieldSet(.via))
            .union(FieldSet(.maxForwards)).union(FieldSet(.authorization)).union(FieldSet(.wwwAuthenticate))
            .union(FieldSet(.authenticationInfo))
    }

    /// The fields that HTTP/2 does not have, because they belong to a connection of HTTP/1.1 (RFC 9113 section 8.2.2). `TE` has
    /// one value that it may have.
    public static var outsideHTTP2: FieldSet {
        FieldSet(.connection).union(FieldSet(.proxyConnection)).union(FieldSet(.keepAlive)).union(FieldSet(.upgrade))
            .union(FieldSet(.transferEncoding))
    }

    /// The fields whose values are secret.
    public static var secret: FieldSet {
        FieldSet(.authorization).union(FieldSet(.proxyAuthorization)).union(FieldSet(.cookie))
            .union(FieldSet(.setCookie))
    }

    /// The fields that affect framing and connection of a request; without them no checks are needed.
    static var concludingRequest: FieldSet {
        FieldSet(.connection).union(FieldSet(.proxyConnection)).union(FieldSet(.contentLength))
            .union(FieldSet(.transferEncoding)).union(FieldSet(.expect))
    }

    /// The fields that are forbidden in a trailer section (RFC 9110 section 6.5.1). A recipient that merges trailers
    /// into the head would read another message than we relayed.
    public static var forbiddenInTrailers: FieldSet {
        essential.union(hopByHop).union(FieldSet(.transferEncoding)).union(FieldSet(.trailer)).union(FieldSet(.expect))
            .union(FieldSet(.contentType)).union(FieldSet(.contentRange)).union(FieldSet(.setCookie))
            .union(FieldSet(.cookie)).union(FieldSet(.location)).subtracting(FieldSet(.authenticationInfo))
    }
}

/// The fields that a proxy reads, writes or removes. All others are `other`, and only their bytes distinguish them.
public enum KnownField: UInt8, Sendable, CaseIterable {
    case other
    case acceptEncoding, authenticationInfo, authorization, connection, contentEncoding, contentLength, contentRange
    case contentType, cookie, date, etag, expect, host, keepAlive, location, maxForwards, proxyAuthenticate
    case proxyAuthenticationInfo, proxyAuthorization, proxyConnection, proxyStatus, proxySupport, referer, retryAfter
    case setCookie, te, trailer, transferEncoding, upgrade, userAgent, via, wwwAuthenticate

    /// The name in lower case; nil for `other`.
    public var name: StaticString? {
        switch self {
        case .other: nil
        case .acceptEncoding: "accept-encoding"
        case .authenticationInfo: "authentication-info"
        case .authorization: "authorization"
        case .connection: "connection"
        case .contentEncoding: "content-encoding"
        case .contentLength: "content-length"
        case .contentRange: "content-range"
        case .contentType: "content-type"
        case .cookie: "cookie"
        case .date: "date"
        case .etag: "etag"
        case .expect: "expect"
        case .host: "host"
        case .keepAlive: "keep-alive"
        case .location: "location"
        case .maxForwards: "max-forwards"
        case .proxyAuthenticate: "proxy-authenticate"
        case .proxyAuthenticationInfo: "proxy-authentication-info"
        case .proxyAuthorization: "proxy-authorization"
        case .proxyConnection: "proxy-connection"
        case .proxyStatus: "proxy-status"
        case .proxySupport: "proxy-support"
        case .referer: "referer"
        case .retryAfter: "retry-after"
        case .setCookie: "set-cookie"
        case .te: "te"
        case .trailer: "trailer"
        case .transferEncoding: "transfer-encoding"
        case .upgrade: "upgrade"
        case .userAgent: "user-agent"
        case .via: "via"
        case .wwwAuthenticate: "www-authenticate"
        }
    }

    /// The names by raw value, from 1.
    static let names = FieldLines.NameTable(allCases.compactMap { $0.name.map { "\($0)" } })

    /// Reads the name in `range`, whose bytes are all token bytes.
    init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        self = KnownField(rawValue: Self.names.ordinal(of: range, in: bytes)) ?? .other
    }
}
