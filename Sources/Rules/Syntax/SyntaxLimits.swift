/// What a rule file may not exceed. Generous for what people write, small beside what a machine can send.
enum SyntaxLimits {
    static let fileSize = 1 << 20
    static let files = 64
    static let includeDepth = 8
    static let blockDepth = 8
    /// Of `challenge`, and of `route`.
    static let rules = 65_536
}
