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
    /// The field whose name stands there, all of it token bytes. By length first: it leaves so few that one comparison
    /// rules out nearly every name.
    @inline(__always)
    init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        let start = range.lowerBound
        let end = range.upperBound
        let count = end &- start
        if count < 8 {
            self = count < 2 ? .other : Self.short(bytes.foldedWord(at: start, count: count), count)
        } else if count <= 16 {
            let first = bytes.foldedWord(at: start, count: 8)
            self = Self.medium(first, bytes.foldedWord(at: end &- 8, count: 8), count)
        } else {
            self = Self.long(bytes.extracting(range))
        }
    }

    private static func short(_ name: UInt64, _ count: Int) -> KnownField {
        switch count {
        case 2: return name == word("te") ? .te : .other
        case 3: return name == word("via") ? .via : .other
        case 4:
            if name == word("host") { return .host }
            if name == word("date") { return .date }
            return name == word("etag") ? .etag : .other
        case 6:
            if name == word("cookie") { return .cookie }
            return name == word("expect") ? .expect : .other
        case 7:
            if name == word("referer") { return .referer }
            if name == word("upgrade") { return .upgrade }
            return name == word("trailer") ? .trailer : .other
        default: return .other
        }
    }

    /// `first` and `last` are the first and the last eight bytes, which overlap.
    private static func medium(_ first: UInt64, _ last: UInt64, _ count: Int) -> KnownField {
        let known: KnownField =
            switch count {
            case 8: first == word("location") ? .location : .other
            case 10: medium10(first, last)
            case 11: first == word("retry-af") && last == word("ry-after") ? .retryAfter : .other
            case 12: medium12(first, last)
            case 13: medium13(first, last)
            case 14: first == word("content-") && last == word("t-length") ? .contentLength : .other
            case 15: first == word("accept-e") && last == word("encoding") ? .acceptEncoding : .other
            case 16: medium16(first, last)
            default: .other
            }
        return known
    }

    private static func medium10(_ first: UInt64, _ last: UInt64) -> KnownField {
        if first == word("user-age"), last == word("er-agent") { return .userAgent }
        if first == word("connecti"), last == word("nnection") { return .connection }
        if first == word("set-cook"), last == word("t-cookie") { return .setCookie }
        return first == word("keep-ali") && last == word("ep-alive") ? .keepAlive : .other
    }

    private static func medium12(_ first: UInt64, _ last: UInt64) -> KnownField {
        if first == word("content-"), last == word("ent-type") { return .contentType }
        if first == word("max-forw"), last == word("forwards") { return .maxForwards }
        return first == word("proxy-st") && last == word("y-status") ? .proxyStatus : .other
    }

    private static func medium13(_ first: UInt64, _ last: UInt64) -> KnownField {
        if first == word("authoriz"), last == word("rization") { return .authorization }
        if first == word("content-"), last == word("nt-range") { return .contentRange }
        return first == word("proxy-su") && last == word("-support") ? .proxySupport : .other
    }

    private static func medium16(_ first: UInt64, _ last: UInt64) -> KnownField {
        if first == word("proxy-co"), last == word("nnection") { return .proxyConnection }
        if first == word("www-auth"), last == word("enticate") { return .wwwAuthenticate }
        return first == word("content-") && last == word("encoding") ? .contentEncoding : .other
    }

    private static func long(_ name: Span<UInt8>) -> KnownField {
        switch name.count {
        case 17: return name.equalsIgnoringCase("transfer-encoding") ? .transferEncoding : .other
        case 18: return name.equalsIgnoringCase("proxy-authenticate") ? .proxyAuthenticate : .other
        case 19:
            if name.equalsIgnoringCase("proxy-authorization") { return .proxyAuthorization }
            return name.equalsIgnoringCase("authentication-info") ? .authenticationInfo : .other
        case 25: return name.equalsIgnoringCase("proxy-authentication-info") ? .proxyAuthenticationInfo : .other
        default: return .other
        }
    }
}
