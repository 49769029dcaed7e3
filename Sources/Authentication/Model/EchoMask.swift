import Bytes
import Crypto

/// Hides the secrets of a request in text that its server wrote, since the text may echo the request.
///
/// A secret is found as it is, percent-encoded at any depth, escaped as in JSON, and within runs of Base64 and
/// hexadecimal digits, such as a Basic answer. A secret of fewer than four bytes is hidden only as a separate word.
public struct EchoMask {
    private var secrets: [Secret] = []

    private static let shortest = 4
    private static let sign = Array("***".utf8)

    public init() {}

    public mutating func add(_ credential: Credential) {
        for secret in [credential.password, credential.token] { secret?.withBytes { add($0) } }
        guard let given = credential.given else { return }
        given.authorization?.withBytes { add(authorization: $0) }
        for field in given.fields { field.value.withBytes { add($0) } }
    }

    /// Adds bytes that are a secret as a whole.
    public mutating func add(_ secret: Span<UInt8>) {
        guard secret.count > 0 else { return }
        secrets.append(Secret(secret))
        // `ResponseExcerpt.line` removes some blanks.
        let line = Array(ResponseExcerpt.line(secret.text).utf8)
        if !line.isEmpty, line != secret.array { secrets.append(Secret(line.span)) }
    }

    /// The largest size of a secret in any encoding, in bytes.
    var reach: Int { (secrets.map(\.count).max() ?? 0) * 6 }

    /// Adds the value of an `Authorization` field: the part after the scheme, and the password in it.
    public mutating func add(authorization value: Span<UInt8>) {
        guard let blank = value.firstIndex(of: .space, in: 0..<value.count) else { return add(value) }
        let word = value.extracting((blank + 1)..<value.count)
        add(word)
        if let pair = Base64.decode(word), let colon = pair.firstIndex(of: .colon) {
            add(Array(pair[(colon + 1)...]).span)
        }
    }

    /// Adds the value of each cookie of a `Cookie` field.
    public mutating func add(cookies value: Span<UInt8>) {
        for pair in value.array.split(separator: UInt8(ascii: ";")) {
            let parts = pair.split(separator: .equals, maxSplits: 1)
            if parts.count == 2, parts[1].count >= Self.shortest { add(Array(parts[1]).span) }
        }
    }

    /// The text with `***` in place of each secret, and of each answer to a challenge.
    func hide(in text: String) -> String {
        let bytes = Array(text.utf8)
        let hidden = Self.answers(in: bytes) + places(in: bytes)
        guard !hidden.isEmpty else { return text }
        return String(decoding: Self.replace(hidden, in: bytes), as: UTF8.self)
    }

    /// The bytes with `***` in place of each secret; nil if there is no secret.
    public func hide(in bytes: [UInt8]) -> [UInt8]? {
        let hidden = places(in: bytes)
        return hidden.isEmpty ? nil : Self.replace(hidden, in: bytes)
    }

    private func places(in bytes: [UInt8]) -> [Range<Int>] {
        var hidden: [Range<Int>] = []
        for view in Self.views(of: bytes) {
            for secret in secrets { secret.withBytes { Self.find($0, in: view, &hidden) } }
        }
        hidden += Self.runs(in: bytes, where: Self.isBase64).filter { isTold(by: Array(bytes[$0])) }
        return hidden + Self.runs(in: bytes, where: { $0.hexValue != nil }).filter { isTold(byHex: Array(bytes[$0])) }
    }

    private static func replace(_ ranges: [Range<Int>], in bytes: [UInt8]) -> [UInt8] {
        var (result, offset) = ([UInt8](), 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > offset {
            if range.lowerBound >= offset {
                result += bytes[offset..<range.lowerBound]
                result += sign
            }
            offset = range.upperBound
        }
        return result + bytes[offset...]
    }

    // MARK: - The secret unencoded, or escaped

    /// The text without its escapes, and the source position of each byte.
    private struct View {
        var bytes: [UInt8] = []
        /// The positions; one more than there are bytes: the last is the end.
        var places: [Int] = []
        /// Whether all percent-encoding was removed, at any depth. The secret is then compared without its own.
        var isDecoded = false
    }

    private static func views(of text: [UInt8]) -> [View] {
        let whole = View(bytes: text, places: Array(0...text.count))
        var views = [whole]
        if text.contains(UInt8(ascii: "%")) { views += [unescaped(text, by: percentEscape), decoded(whole)] }
        if text.contains(UInt8(ascii: "\\")) {
            let view = unescaped(text, by: jsonEscape)
            views += [view, decoded(view)]
        }
        return views
    }

    /// Removes percent-encoding until none is left, in one pass.
    private static func decoded(_ view: View) -> View {
        var decoded = View(isDecoded: true)
        for (offset, byte) in view.bytes.enumerated() {
            decoded.bytes.append(byte)
            decoded.places.append(view.places[offset])
            while decoded.bytes.count >= 3, let escape = percentEscape(decoded.bytes, decoded.bytes.count - 3) {
                decoded.bytes.removeLast(2)
                decoded.places.removeLast(2)
                decoded.bytes[decoded.bytes.count - 1] = escape.bytes[0]
            }
        }
        decoded.places.append(view.places[view.bytes.count])
        return decoded
    }

    /// - Parameter escape: the bytes of the escape at an offset, and its length; nil if none.
    private static func unescaped(_ text: [UInt8], by escape: ([UInt8], Int) -> (bytes: [UInt8], length: Int)?) -> View
    {
        var (view, offset) = (View(), 0)
        while offset < text.count {
            let found = escape(text, offset) ?? ([text[offset]], 1)
            for byte in found.bytes {
                view.bytes.append(byte)
                view.places.append(offset)
            }
            offset += found.length
        }
        view.places.append(text.count)
        return view
    }

    private static func percentEscape(_ text: [UInt8], _ offset: Int) -> (bytes: [UInt8], length: Int)? {
        guard text[offset] == UInt8(ascii: "%"), offset + 2 < text.count, let high = text[offset + 1].hexValue,
            let low = text[offset + 2].hexValue
        else { return nil }
        return ([high << 4 | low], 3)
    }

    private static func jsonEscape(_ text: [UInt8], _ offset: Int) -> (bytes: [UInt8], length: Int)? {
        guard text[offset] == UInt8(ascii: "\\"), offset + 1 < text.count else { return nil }
        guard text[offset + 1] == UInt8(ascii: "u") else { return ([text[offset + 1]], 2) }
        guard offset + 5 < text.count else { return nil }
        let digits = text[(offset + 2)...(offset + 5)].compactMap(\.hexValue)
        let value = digits.reduce(0) { $0 << 4 | UInt32($1) }
        guard digits.count == 4, let scalar = Unicode.Scalar(value) else { return nil }
        return (Array(String(scalar).utf8), 6)
    }

    private static func find(_ secret: Span<UInt8>, in view: View, _ found: inout [Range<Int>]) {
        if view.isDecoded, secret.firstIndex(of: .percent) != nil {
            let bytes = decoded(View(bytes: secret.array, places: Array(0...secret.count))).bytes
            return find(bytes.span, in: View(bytes: view.bytes, places: view.places), &found)
        }
        var offset = 0
        while let start = firstIndex(of: secret, in: view.bytes, from: offset) {
            let end = start + secret.count
            if secret.count >= shortest || standsAlone(start..<end, in: view.bytes) {
                found.append(view.places[start]..<view.places[end])
            }
            offset = start + 1
        }
    }

    private static func firstIndex(of secret: Span<UInt8>, in bytes: [UInt8], from offset: Int) -> Int? {
        guard secret.count > 0, bytes.count >= secret.count else { return nil }
        var start = offset
        while start + secret.count <= bytes.count {
            var length = 0
            while length < secret.count, isSame(bytes[start + length], secret[length]) { length += 1 }
            if length == secret.count { return start }
            start += 1
        }
        return nil
    }

    /// A form encodes a blank as a plus sign.
    private static func isSame(_ byte: UInt8, _ expected: UInt8) -> Bool {
        byte == expected || byte == UInt8(ascii: "+") && expected == .space
    }

    private static func standsAlone(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        let isWord = { (byte: UInt8) in byte.isLetter || byte.isDigit || byte >= 0x80 }
        if range.lowerBound > 0, isWord(bytes[range.lowerBound - 1]) { return false }
        return range.upperBound >= bytes.count || !isWord(bytes[range.upperBound])
    }

    // MARK: - The secret in a code

    private static func runs(in bytes: [UInt8], where belongs: (UInt8) -> Bool) -> [Range<Int>] {
        var (runs, start) = ([Range<Int>](), 0)
        for offset in 0...bytes.count where offset == bytes.count || !belongs(bytes[offset]) {
            if offset - start >= shortest { runs.append(start..<offset) }
            start = offset + 1
        }
        return runs
    }

    /// Whether the byte is in the Base64 alphabet or the one for URLs (RFC 4648 section 5).
    private static func isBase64(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "+/-_".utf8.contains(byte)
    }

    /// Whether a run is Base64 with a secret in it, at any alignment.
    private func isTold(by run: [UInt8]) -> Bool {
        (0..<min(4, run.count)).contains { holds(Self.decoded(run[$0...]), isWhole: $0 == 0) }
    }

    private func isTold(byHex run: [UInt8]) -> Bool {
        for start in 0...1 {
            let digits = run[start...].compactMap(\.hexValue)
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            if holds(bytes, isWhole: start == 0) { return true }
        }
        return false
    }

    /// Whether decoded bytes contain a secret. A short secret counts only alone or after a name.
    private func holds(_ bytes: [UInt8], isWhole: Bool) -> Bool {
        secrets.contains { secret in
            secret.withBytes { secret in
                guard let place = Self.firstIndex(of: secret, in: bytes, from: 0) else { return false }
                if secret.count >= Self.shortest { return true }
                let start = bytes.count - secret.count
                return isWhole && Self.firstIndex(of: secret, in: bytes, from: start) == start
                    && (place == 0 && start == 0 || start > 0 && bytes[start - 1] == .colon)
            }
        }
    }

    /// Decodes Base64. Bits left over at the end are dropped.
    private static func decoded(_ run: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, bits, held): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for byte in run {
            let value: UInt8 =
                switch byte {
                case 0x41...0x5A: byte - 0x41
                case 0x61...0x7A: byte - 0x61 + 26
                case 0x30...0x39: byte - 0x30 + 52
                case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
                default: 63
                }
            (bits, held) = ((bits << 6 | UInt32(value)) & 0xFFFF, held + 6)
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> held))
        }
        return bytes
    }

    // MARK: - Answers

    /// The tokens that follow the names of schemes. They prove the identity of their sender, and allow an offline
    /// attack.
    private static func answers(in bytes: [UInt8]) -> [Range<Int>] {
        let lower = bytes.map(\.asciiLowercased)
        var found: [Range<Int>] = []
        for name in ["basic ", "bearer ", "ntlm ", "negotiate ", "response="] {
            var offset = 0
            while let start = firstIndex(of: name.utf8Span.span, in: lower, from: offset) {
                offset = start + name.utf8.count
                while offset < bytes.count, "\"\\'".utf8.contains(bytes[offset]) { offset += 1 }
                let end = bytes[offset...].firstIndex { !isBase64($0) && !".~=".utf8.contains($0) }
                let run = offset..<(end ?? bytes.count)
                // A word such as "authentication" is not a token.
                if run.count >= 12, bytes[run].dropFirst().contains(where: { !(0x61...0x7A).contains($0) }) {
                    found.append(run)
                }
            }
        }
        return found
    }
}
