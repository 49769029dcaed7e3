/// What the rule file may look at outside itself: other files and the environment. The command line reads the real
/// ones; a test plays them, which keeps this target pure.
public protocol SourceReader {
    /// The content of a file. Throws `.tooLarge` rather than reading more than `limit` bytes.
    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8]

    /// The value of an environment variable, or nil when it is not set.
    func environment(_ name: String) -> String?
}
