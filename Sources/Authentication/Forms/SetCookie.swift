import Bytes

/// The value of a `Set-Cookie` field, taken apart (RFC 6265 section 5.2).
struct SetCookie {
    let name: [UInt8]
    let value: [UInt8]
    var domain: [UInt8]?
    var path: [UInt8]?
    var isSecure = false
    /// Milliseconds since 1970 at which it ends; nil: with the session.
    var endsAt: Int?

    private static let sizeLimit = 4096
    private static let attributeLimit = 1024

    /// Nil for what a user agent has to ignore.
    ///
    /// - Parameter now: milliseconds since 1970.
    init?(_ field: Span<UInt8>, at now: Int) {
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
                endsAt = seconds <= 0 ? .min : now + seconds * 1000
            } else if name.equalsIgnoringCase("expires") {
                if !hasMaxAge { endsAt = CookieDate.milliseconds(value) ?? endsAt }
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

    /// What comes before the first equals sign, as far as it names a cookie.
    static func name(in field: Span<UInt8>) -> Range<Int> {
        let pairEnd = field.firstIndex(of: .semicolon) ?? field.count
        return field.trimmingBlanks(0..<(field.firstIndex(of: .equals, in: 0..<pairEnd) ?? 0))
    }

    /// Of Max-Age; no longer than 400 days.
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
