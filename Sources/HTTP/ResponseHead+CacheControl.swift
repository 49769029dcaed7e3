import Bytes

extension ResponseHead {
    /// Whether `Cache-Control: no-transform` keeps an intermediary from changing the content (RFC 9110 section 7.7).
    /// `bytes` are those that were parsed.
    public func forbidsTransformation(_ bytes: Span<UInt8>) -> Bool {
        for field in fields where bytes.extracting(field.name).equalsIgnoringCase("cache-control") {
            var list = ListReader(field.value)
            while let directive = list.next(bytes) {
                if bytes.extracting(directive).equalsIgnoringCase("no-transform") { return true }
            }
        }
        return false
    }
}
