import Rules

/// A file system that holds one rule file, `proxy.conf`.
public struct RuleText: SourceReader {
    private let text: String

    public init(_ text: String) { self.text = text }

    public func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        guard path == "proxy.conf" else { throw .notFound }
        return Array(text.utf8)
    }

    public func environment(_ name: String) -> String? { nil }
}
