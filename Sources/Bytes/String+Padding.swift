extension String {
    /// Returns the text with spaces behind it, so that it has at least this number of characters.
    public func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
