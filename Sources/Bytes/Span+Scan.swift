import CScan

extension Span<UInt8> {
    /// The offset of the first control character other than tab at or after `start`; `count` when there is none.
    public func firstControl(from start: Int) -> Int {
        scan(start..<count, scan_find_control)
    }

    /// Where the token that begins at the range's start ends (RFC 9110 section 5.6.2); the range's end if all of it is
    /// one.
    public func endOfToken(in range: Range<Int>) -> Int {
        scan(range, scan_find_token_end)
    }

    /// The offset of the first byte in `range` that no request target may hold, anything but visible ASCII, and `#`;
    /// the range's end when there is none.
    public func firstOutsideTarget(in range: Range<Int>) -> Int {
        scan(range, scan_find_outside_target)
    }

    /// Where the host name that begins at the range's start ends: letters, digits, `-`, `.`, `_` and `~`.
    public func endOfHostName(in range: Range<Int>) -> Int {
        scan(range, scan_find_host_end)
    }

    /// Where the dotted quad ends that begins at the range's start; nil when there is none: four decimal numbers below
    /// 256 without leading zeros.
    public func endOfDottedQuad(in range: Range<Int>) -> Int? {
        let end = scan(range, scan_find_quad_end)
        return end > range.lowerBound ? end : nil
    }

    @inline(__always)
    private func scan(_ range: Range<Int>, _ find: (UnsafePointer<UInt8>?, Int, Int) -> Int) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the span")
        return withUnsafeBufferPointer { find($0.baseAddress, range.lowerBound, range.upperBound) }
    }
}
