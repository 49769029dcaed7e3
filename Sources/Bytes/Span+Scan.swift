import CLinux

extension Span<UInt8> {
    /// The offset of the first control character other than tab at or after `start`; `count` when there is none.
    public func firstControl(from start: Int) -> Int {
        scan(start..<count, linux_find_control)
    }

    /// Where the token that begins at the range's start ends (RFC 9110 section 5.6.2); the range's end if all of it is
    /// one.
    public func endOfToken(in range: Range<Int>) -> Int {
        scan(range, linux_find_token_end)
    }

    /// The offset of the first byte in `range` that no request target may hold, anything but visible ASCII, and `#`;
    /// the range's end when there is none.
    public func firstOutsideTarget(in range: Range<Int>) -> Int {
        scan(range, linux_find_outside_target)
    }

    /// Where the host name that begins at the range's start ends: letters, digits, `-`, `.`, `_` and `~`.
    public func endOfHostName(in range: Range<Int>) -> Int {
        scan(range, linux_find_host_end)
    }

    /// The field line that begins at `start`; nil unless it is one, and there to its end.
    public func fieldLine(at start: Int) -> FieldLine? {
        precondition(start >= 0 && start <= count, "offset outside the span")
        return withUnsafeBufferPointer { bytes in
            bytes.baseAddress.flatMap { Self.fieldLine($0, at: start, count: bytes.count) }
        }
    }

    /// Fills `lines`, from its element `first` on, with the field lines that stand whole and faultless one behind the
    /// other from `start`: as many as it has room for and as end at or before `limit`. Returns how many elements are
    /// filled then. Less than 4 GiB of bytes.
    public func fieldLines(from start: Int, limit: Int, into lines: inout [FieldLine], first: Int) -> Int {
        precondition(start >= 0 && start <= count && first >= 0, "offset outside the span")
        return withUnsafeBufferPointer { bytes in
            lines.withUnsafeMutableBufferPointer { room in
                guard let base = bytes.baseAddress, let places = room.baseAddress else { return first }
                var filled = first
                var next = start
                while filled < room.count, let line = Self.fieldLine(base, at: next, count: bytes.count),
                    line.line.upperBound <= limit
                {
                    places[filled] = line
                    filled &+= 1
                    next = line.line.upperBound
                }
                return filled
            }
        }
    }

    @inline(__always)
    private static func fieldLine(_ base: UnsafePointer<UInt8>, at start: Int, count: Int) -> FieldLine? {
        let name = linux_find_token_end(base, start, count)
        guard name > start, name < count, base[name] == .colon else { return nil }
        let end = linux_find_control(base, name &+ 1, count)
        guard end &+ 1 < count, base[end] == .carriageReturn, base[end &+ 1] == .lineFeed else { return nil }
        var first = name &+ 1
        var last = end
        while first < last, base[first].isBlank { first &+= 1 }
        while first < last, base[last &- 1].isBlank { last &-= 1 }
        return FieldLine(start: start, nameEnd: name, valueStart: first, valueEnd: last, end: end &+ 2)
    }

    @inline(__always)
    private func scan(_ range: Range<Int>, _ find: (UnsafePointer<UInt8>?, Int, Int) -> Int) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the span")
        return withUnsafeBufferPointer { find($0.baseAddress, range.lowerBound, range.upperBound) }
    }
}
