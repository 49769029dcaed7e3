import Foundation

/// The program under test: `ATTACHE_BINARY`, else the one that was built beside this test bundle.
enum AttacheBinary {
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["ATTACHE_BINARY"] { return path }
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe")
        let beside = bundle.resolvingSymlinksInPath().deletingLastPathComponent().path + "/attache"
        if access(beside, X_OK) == 0 { return beside }
        return repository + "/.build/debug/attache"
    }()

    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// Runs a command that ends by itself.
    static func run(
        _ arguments: String..., environment: [String: String] = [:], directory: String = Scratch.root,
        input: String = "/dev/null"
    ) throws -> Finished {
        try Finished.run(
            path, arguments, environment: environment, directory: directory, input: input, seconds: 20)
    }
}
