import Bytes
import Foundation
import IO
import TestSupport
import Testing

@testable import Admin

/// The practice origin as a client sees it that shares no line with us.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"))) struct CurlTests {
    private struct Answer {
        /// The statuses of all responses, in their order.
        let statuses: [String]
        let text: String
    }

    private func curl(_ arguments: [String], path: String) async throws -> Answer {
        let address = try await onLoop { loop in
            try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop,
                site: try site()
            ).address
        }
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments =
            ["-q", "-sS", "-i", "--noproxy", "*", "--max-time", "60"] + arguments + ["http://\(address)\(path)"]
        process.standardOutput = output
        process.standardError = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        let statuses = text.components(separatedBy: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
        return Answer(statuses: statuses.map { String($0.dropFirst(9).prefix(3)) }, text: text)
    }

    private let right = ["-u", "\(PracticeCredential.user):\(PracticeCredential.password)"]

    @Test(arguments: ["/practice/basic", "/practice/digest", "/practice/digest-sha256/below?a=b"])
    func `without credentials curl sees the challenge`(path: String) async throws {
        let answer = try await curl([], path: path)
        #expect(answer.statuses == ["401"], "\(answer.text)")
        #expect(answer.text.contains("WWW-Authenticate: "))
    }

    @Test func `curl opens the Basic space`() async throws {
        let answer = try await curl(["--basic"] + right, path: "/practice/basic")
        #expect(answer.statuses == ["200"], "\(answer.text)")
        #expect(answer.text.hasSuffix("welcome, practice: Basic let you in\n"))
    }

    @Test(arguments: [("/practice/digest", "Digest (MD5)"), ("/practice/digest-sha256/below?a=b", "Digest (SHA-256)")])
    func `curl opens a Digest space`(path: String, name: String) async throws {
        let answer = try await curl(["--digest"] + right, path: path)
        #expect(answer.statuses == ["401", "200"], "\(answer.text)")
        #expect(answer.text.contains("Authentication-Info: rspauth="))
        #expect(answer.text.hasSuffix("welcome, practice: \(name) let you in\n"))
    }

    @Test(arguments: [
        ("--basic", "/practice/basic"), ("--digest", "/practice/digest"), ("--digest", "/practice/digest-sha256"),
    ])
    func `a wrong password stays outside`(scheme: String, path: String) async throws {
        let answer = try await curl([scheme, "-u", "practice:wrong"], path: path)
        #expect(answer.statuses.last == "401", "\(answer.text)")
        #expect(!answer.text.contains("stale=true"))
    }
}
