import CScan
import Glibc

extension Span<UInt8> {
    /// The offset of the first `byte` at or after `start`, or nil.
    public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        firstIndex(of: byte, in: start..<Swift.max(start, count))
    }

    /// The offset of the first `byte` inside `range`, or nil.
    public func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= Swift.max(count, range.lowerBound))
        return withUnsafeBufferPointer { bytes -> Int? in
            guard let base = bytes.baseAddress, range.count > 0, range.upperBound <= bytes.count,
                let found = memchr(base + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }

    /// The text that is a part of every placeholder of a credential.
    public static var placeholderMark: String { SCAN_MARK }

    /// The offset of the first `placeholderMark` in `range`, or nil.
    public func firstPlaceholderMark(in range: Range<Int>) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the span")
        return withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            let found = scan_find_mark(base, range.lowerBound, range.upperBound)
            return found < range.upperBound ? found : nil
        }
    }

    public func equals(_ other: Span<UInt8>) -> Bool {
        count == other.count
            && withUnsafeBufferPointer { mine in
                other.withUnsafeBufferPointer { theirs in
                    guard let left = mine.baseAddress, let right = theirs.baseAddress else { return true }
                    return memcmp(left, right, mine.count) == 0
                }
            }
    }

    /// Compares in a time that depends only on the length and the result. `ConstantTime` is in a higher target
    /// (`Crypto`), and compares single bytes, which takes as long as parsing a head.
    func equalsInFull(_ other: Span<UInt8>) -> Bool {
        count == other.count
            && withUnsafeBufferPointer { mine in
                other.withUnsafeBufferPointer { theirs in
                    guard let left = mine.baseAddress, let right = theirs.baseAddress else { return true }
                    return scan_equal(left, right, mine.count)
                }
            }
    }

    public func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && withUnsafeBufferPointer { mine in
                guard let left = mine.baseAddress else { return true }
                return memcmp(left, text.utf8Start, mine.count) == 0
            }
    }

    /// Compares ignoring ASCII case; `lowercase` must be in lower case.
    public func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
        count == lowercase.utf8CodeUnitCount
            && withUnsafeBufferPointer { mine in
                for offset in 0..<mine.count where mine[offset].asciiLowercased != lowercase.utf8Start[offset] {
                    return false
                }
                return true
            }
    }

    public func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // Names mostly have the same case.
        if equals(other) { return true }
        for offset in 0..<count where self[offset].asciiLowercased != other[offset].asciiLowercased {
            return false
        }
        return true
    }

    /// Whether the bytes match a pattern in which `*` stands for any bytes, also none. Takes at most pattern × text steps,
    /// and allocates nothing.
    ///
    /// - Parameters:
    ///   - separator: the byte that `*` never stands for; nil: it stands for all.
    ///   - ignoringCase: whether ASCII letters match in any case; the pattern must be in lower case then.
    public func matches(pattern: Span<UInt8>, within separator: UInt8? = nil, ignoringCase: Bool = false) -> Bool {
        let star = UInt8(ascii: "*")
        var at = 0
        var inPattern = 0
        // Going back to the latest `*` alone suffices.
        var resume: (at: Int, inPattern: Int)?
        while at < count {
            if inPattern < pattern.count, pattern[inPattern] == star {
                inPattern += 1
                resume = (at, inPattern)
            } else if inPattern < pattern.count,
                pattern[inPattern] == (ignoringCase ? self[at].asciiLowercased : self[at])
            {
                at += 1
                inPattern += 1
            } else if let last = resume, self[last.at] != separator {
                at = last.at + 1
                inPattern = last.inPattern
                resume = (at, inPattern)
            } else {
                return false
            }
        }
        while inPattern < pattern.count, pattern[inPattern] == star { inPattern += 1 }
        return inPattern == pattern.count
    }

    /// The range without the blanks (space, tab) at both ends.
    public func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isBlank { lower += 1 }
        while upper > lower, self[upper - 1].isBlank { upper -= 1 }
        return lower..<upper
    }

    /// The bytes as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes, which must be ASCII, as text in lower case.
    public var lowercasedText: String {
        let bytes = self
        return unsafe String(unsafeUninitializedCapacity: bytes.count) { text in
            for offset in 0..<bytes.count { unsafe text[offset] = bytes[offset].asciiLowercased }
            return bytes.count
        }
    }

    public var array: [UInt8] {
        withUnsafeBufferPointer { [UInt8]($0) }
    }

    /// The offset of the first control character other than tab at or after `start`; `count` if none.
    public func firstControl(from start: Int) -> Int {
        scan(start..<count, scan_find_control)
    }

    /// The end of the token at the range's start (RFC 9110 section 5.6.2); the range's end if the token fills it.
    public func endOfToken(in range: Range<Int>) -> Int {
        scan(range, scan_find_token_end)
    }

    /// The end of the token without capitals at the start of the range; the end of the range if the token fills it.
    public func endOfLowercaseToken(in range: Range<Int>) -> Int {
        scan(range, scan_find_lower_token_end)
    }

    /// The offset of the first byte in `range` that a request target must not contain, anything but visible ASCII, and
    /// `#`; the range's end if none.
    public func firstOutsideTarget(in range: Range<Int>) -> Int {
        scan(range, scan_find_outside_target)
    }

    /// The end of the host name at the range's start: letters, digits, `-`, `.`, `_` and `~`.
    public func endOfHostName(in range: Range<Int>) -> Int {
        scan(range, scan_find_host_end)
    }

    /// The end of the dotted quad at the range's start: four decimal numbers below 256 without leading zeros. Nil for
    /// other text.
    public func endOfDottedQuad(in range: Range<Int>) -> Int? {
        let end = scan(range, scan_find_quad_end)
        return end > range.lowerBound ? end : nil
    }

    @inline(__always)
    private func scan(_ range: Range<Int>, _ find: (UnsafePointer<UInt8>?, Int, Int) -> Int) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the span")
        return withUnsafeBufferPointer { find($0.baseAddress, range.lowerBound, range.upperBound) }
    }

    /// The eight bytes at `offset` as a number, the first in the lowest bits.
    @inline(__always)
    public func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset &+ 8 <= count, "word outside the span")
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian }
    }

    /// The bytes in the range, eight at most, as a number, the first in the highest bits.
    public func number(in range: Range<Int>) -> UInt64 {
        var number: UInt64 = 0
        for place in range { number = number << 8 | UInt64(self[place]) }
        return number
    }
}
