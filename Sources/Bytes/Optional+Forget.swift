extension Optional {
    /// Sets it to nil, if it is not. What is reset with each request is nil mostly: a look costs two instructions, and to
    /// let go of nothing fifteen.
    @inline(__always)
    public mutating func forget() {
        if self != nil { self = nil }
    }
}
