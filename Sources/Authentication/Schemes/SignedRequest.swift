import Bytes

/// A request's head as it is sent, in the parts that signatures cover. So a signature covers what the server receives.
public struct SignedRequest {
    let method: [UInt8]
    /// The path, not decoded.
    let path: [UInt8]
    /// The query without its question mark; nil without a query.
    let query: [UInt8]?
    /// The fields in order, with names in lower case. The values are not trimmed.
    let fields: [(name: String, value: ArraySlice<UInt8>)]

    /// - Parameter head: request line and fields, each line ended, without the empty line.
    public init(_ head: Span<UInt8>) {
        let lines = head.array.split(separator: .lineFeed).map { $0.last == .carriageReturn ? $0.dropLast() : $0 }
        let words = lines.first?.split(separator: .space, omittingEmptySubsequences: false) ?? []
        method = Array(words.first ?? [])
        // A test of AWS's published suite has a target with a blank.
        let target = Self.originForm(Array(words.dropFirst().dropLast().joined(separator: [.space])))
        let question = target.firstIndex(of: .question)
        path = question.map { Array(target[..<$0]) } ?? target
        query = question.map { Array(target[($0 + 1)...]) }
        fields = lines.dropFirst().compactMap { line in
            line.firstIndex(of: .colon).map { colon in
                (String(decoding: line[..<colon].map(\.asciiLowercased), as: UTF8.self), line[(colon + 1)...])
            }
        }
    }

    /// The origin-form of a target in absolute-form.
    private static func originForm(_ target: [UInt8]) -> [UInt8] {
        guard target.first != .slash, let scheme = target.firstIndex(of: .colon),
            target[(scheme + 1)...].starts(with: [.slash, .slash])
        else { return target }
        let path = target[(scheme + 3)...].firstIndex { $0 == .slash || $0 == .question } ?? target.endIndex
        return path < target.endIndex && target[path] == .slash ? Array(target[path...]) : [.slash] + target[path...]
    }

    /// Host and port of the `Host` field in lower case, without the scheme's usual port (RFC 5849 section 3.4.1.2, RFC
    /// 9421 section 2.2.3); empty if there is no `Host`.
    func authority(isSecure: Bool) -> [UInt8] {
        var authority = (value(of: "host") ?? []).map(\.asciiLowercased)
        let port = Array((isSecure ? ":443" : ":80").utf8)
        if authority.suffix(port.count).elementsEqual(port) { authority.removeLast(port.count) }
        return authority
    }

    /// The values of a field, trimmed and joined by a comma and a blank (RFC 9421 section 2.1); nil if it is missing.
    func value(of name: String) -> [UInt8]? {
        let values = fields.filter { $0.name == name }.map { field in
            let value = field.value.drop(while: \.isBlank)
            return value[..<(value.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? value.startIndex)]
        }
        return values.isEmpty ? nil : Array(values.joined(separator: [.comma, .space]))
    }

    /// Decodes percent-encoding and leaves other bytes unchanged.
    static func decoded(_ bytes: some RandomAccessCollection<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(\.hexValue)
            if byte == .percent, digits.count == 2 {
                decoded.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// Names and values that are sorted for a signature (RFC 5849 section 3.4.1.3.2, and AWS Signature Version 4).
    struct Parameters {
        private var pairs: [(name: [UInt8], value: [UInt8])] = []

        mutating func add(_ name: String, _ value: String) {
            pairs.append((PercentEncoding.encode(name.utf8), PercentEncoding.encode(value.utf8)))
        }

        /// Adds the pairs of a text in `application/x-www-form-urlencoded`, such as a query. A plus means a blank.
        mutating func addForm(_ text: [UInt8]) {
            let plus = UInt8(ascii: "+")
            let canonical = { (part: ArraySlice<UInt8>) in
                PercentEncoding.encode(SignedRequest.decoded(part.map { $0 == plus ? .space : $0 }))
            }
            for pair in text.split(separator: .ampersand) {
                let parts = pair.split(separator: .equals, maxSplits: 1, omittingEmptySubsequences: false)
                pairs.append((canonical(parts[0]), parts.count > 1 ? canonical(parts[1]) : []))
            }
        }

        /// The pairs, encoded and sorted by name, then by value.
        var normalised: [UInt8] {
            let sorted = pairs.sorted { left, right in
                left.name == right.name
                    ? left.value.lexicographicallyPrecedes(right.value)
                    : left.name.lexicographicallyPrecedes(right.name)
            }
            return Array(sorted.map { $0.name + [.equals] + $0.value }.joined(separator: [.ampersand]))
        }
    }
}
