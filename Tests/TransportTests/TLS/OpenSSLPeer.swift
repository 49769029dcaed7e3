import Foundation
import TestSupport

/// A peer with another implementation, `openssl s_server` or `s_client`. It ends with the object.
final class OpenSSLPeer {
    private let process = ChildProcess()
    private let input = Pipe()
    private let folder: URL

    /// The last that it said, instead of what was waited for.
    struct Silence: Error {
        let output: Substring
    }

    init(_ arguments: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "attache-peer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, pem) in [("server", TestPEM.server), ("other", TestPEM.other), ("client", TestPEM.client)] {
            try Data(pem.utf8).write(to: folder.appending(path: "\(name).pem"))
        }
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        let file = try FileHandle(forWritingTo: output)
        process.executableURL = URL(filePath: "/usr/bin/env")
        // Line by line, or what it says about a command stays with it.
        process.arguments = ["stdbuf", "-oL", "openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardInput = input
        process.standardOutput = file
        process.standardError = file
        try process.start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A server with a certificate of its own, on a port that the system chose.
    static func server(_ arguments: String) throws -> (OpenSSLPeer, port: UInt16) {
        let peer = try OpenSSLPeer("s_server -accept 127.0.0.1:0 -cert server.pem -key server.pem \(arguments)")
        let line = try peer.console.waits(for: "ACCEPT 127.0.0.1:")
        let port = line.split(separator: "ACCEPT 127.0.0.1:").last?.prefix { $0.isNumber }
        return (peer, port.flatMap { UInt16($0) } ?? 0)
    }

    /// The peer's input and output, also for a task on a loop.
    struct Console: Sendable {
        fileprivate let input: Int32
        fileprivate let process: pid_t
        fileprivate let path: String

        func type(_ text: String) { _ = write(input, text, text.utf8.count) }

        func kill() { Foundation.kill(process, SIGKILL) }

        var output: String {
            guard let file = FileHandle(forReadingAtPath: path) else { return "" }
            return String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
        }

        /// All that it has said, once that contains the text so many times.
        @discardableResult
        func waits(for text: String, count: Int = 1) throws -> String {
            var output = ""
            let hasCome = Wait.until {
                output = self.output
                return output.components(separatedBy: text).count > count
            }
            guard hasCome else { throw Silence(output: output.suffix(300)) }
            return output
        }
    }

    var console: Console {
        Console(
            input: input.fileHandleForWriting.fileDescriptor, process: process.processIdentifier,
            path: folder.appending(path: "output").path)
    }

    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
