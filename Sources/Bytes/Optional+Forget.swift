extension Optional {
    /// Sets the value to nil unless it is nil. Values that each request resets are mostly nil: the check costs two
    /// instructions, an assignment fifteen.
    @inline(__always)
    public mutating func forget() {
        if self != nil { self = nil }
    }
}
