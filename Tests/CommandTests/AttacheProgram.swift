import Foundation
import TestSupport

/// The program under test: `ATTACHE_BINARY`, else the one that was built beside this test bundle.
enum AttacheProgram {
    static let folder: String = {
        if let path = ProcessInfo.processInfo.environment["ATTACHE_BINARY"] {
            return URL(filePath: path).deletingLastPathComponent().path
        }
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
        return URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent().path
    }()

    /// The change of `Tests/mutants` that is on, which the program has as well.
    private static let mutant = ProcessInfo.processInfo.environment.filter { $0.key == "ATTACHE_MUTANT" }

    /// Runs a line of shell in a folder, in which `attache` is the program under test.
    static func run(_ line: String, in directory: Folder) throws -> CommandResult {
        let streams = FileManager.default.temporaryDirectory.appending(path: "attache-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: streams, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: streams) }
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line]
        process.currentDirectoryURL = directory.url
        process.environment = ["PATH": "\(folder):/usr/bin:/bin", "LC_ALL": "C.UTF-8"].merging(mutant) { usual, _ in
            usual
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try handle(streams.appending(path: "out"))
        process.standardError = try handle(streams.appending(path: "error"))
        try process.start()
        process.waitUntilExit()
        return CommandResult(
            status: process.terminationStatus,
            output: try String(contentsOf: streams.appending(path: "out"), encoding: .utf8),
            errorOutput: try String(contentsOf: streams.appending(path: "error"), encoding: .utf8))
    }

    private static func handle(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }
}
