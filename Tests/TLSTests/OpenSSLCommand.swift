import Crypto
import Foundation
import TestSupport

/// Runs the `openssl` program and its like, which judge and make what the tests need.
struct OpenSSLCommand {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "attache-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    struct Failure: Error {
        let line: String
        let output: String
    }

    /// Runs a line of shell in the folder, and gives what it says. Throws when it does not end with 0.
    @discardableResult
    func run(_ line: String) throws -> String {
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-ec", line]
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(line: line, output: output) }
        return output
    }

    func bytes(of name: String) throws -> [UInt8] { try Array(Data(contentsOf: folder.appending(path: name))) }

    func secret(of name: String) throws -> Secret {
        var bytes = try bytes(of: name)
        return Secret(wiping: &bytes)
    }

    /// Returns the content of the folder, by name.
    func all() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try bytes(of: $0)) })
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
