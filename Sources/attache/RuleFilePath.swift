import Rules

/// Where the rule file is when the command line does not say.
enum RuleFilePath {
    private static let usual = ["./proxy.conf", "/etc/attache/proxy.conf"]

    /// The path that was said, else the first usual one where there is something, readable or not.
    static func choose(_ said: String?) throws(CommandError) -> String {
        if let path = find(said) { return path }
        throw .configuration(
            "there is no rule file: neither \(usual.joined(separator: " nor ")) exists; "
                + "proxy.conf.example shows what one says")
    }

    /// The path that was said, else the first usual one where there is something, else nil.
    static func find(_ said: String?) -> String? { said ?? usual.first { exists($0) } }

    private static func exists(_ path: String) -> Bool {
        do throws(SourceError) {
            _ = try FileSource().bytes(at: path, limit: 0)
            return true
        } catch { return error != .notFound }
    }
}
