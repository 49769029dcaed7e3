/// What a rule file may not exceed. Generous for what people write, small beside what a machine can send.
enum SyntaxLimits {
    static let fileSize = 1 << 20
    static let files = 64
    static let includeDepth = 8
    static let blockDepth = 8
    static let challenges = 4096
    static let routes = 4096
}
