import Crypto
import Database
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Credentials

/// A PostgreSQL server of the distribution on a free port of the loopback address, its data in a folder of its own.
final class PostgreSQLServer: Sendable {
    /// One for all tests of the process; it ends with the process.
    static let shared: PostgreSQLServer = {
        do { return try PostgreSQLServer() } catch { fatalError("PostgreSQL does not start: \(error)") }
    }()

    let port: UInt16
    private let folder: String
    private let databases = Mutex(0)
    private let running = Mutex<ChildProcess?>(nil)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "attache-pg-\(UUID().uuidString)").path
        port = LoopbackPort.take()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The server refuses to run as root.
        if getuid() == 0 { try Self.run(["chown", "postgres", folder]) }
        try Self.run(
            Self.asServer + [
                Self.program("initdb"), "-D", data, "-U", "attache", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                "--no-sync",
            ])
        try start()
    }

    private var data: String { folder + "/data" }

    /// Starts it in the foreground, as a child of a shell that ends it when this process has ended for any reason.
    func start() throws {
        let server = (Self.asServer + [try Self.program("postgres"), "-D", data]).joined(separator: " ")
        let options = "-p \(port) -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=16MB"
        let script = """
            \(server) \(options) & server=$!
            while kill -0 \(getpid()) && kill -0 $server; do sleep 0.2; done
            kill -INT $server; wait $server
            kill -0 \(getpid()) || rm -rf \(folder)
            """
        let shell = try Self.launch(["/bin/sh", "-c", script])
        running.withLock { $0 = shell }
        guard Wait.until({ (try? PostgreSQLConnection(info("postgres"))) != nil }) else {
            throw Failure(command: script)
        }
    }

    func stop() throws {
        guard let shell = running.withLock({ $0 }) else { return }
        let pid = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8).prefix { $0 != "\n" }
        try Self.run(["kill", "-INT", String(pid)])
        shell.waitUntilExit()
    }

    /// Returns libpq's connection string for a fresh database.
    func newDatabase() throws -> String {
        let name = databases.withLock { number in
            number += 1
            return "store\(number)"
        }
        try PostgreSQLConnection(info("postgres")).rows("CREATE DATABASE \(name)")
        return info(name)
    }

    func open(_ info: String, _ key: SealingKey? = nil) throws -> CredentialStore {
        try CredentialStore(
            postgresql: info, key: key ?? StoreFile.key(1), fingerprintKey: { _ in }, report: { Issue.record("\($0)") })
    }

    private func info(_ database: String) -> String {
        "host=127.0.0.1 port=\(port) user=attache dbname=\(database)"
    }

    /// Debian keeps the server's programs out of the path.
    private static func program(_ name: String) throws -> String {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").sorted()
        return "/usr/lib/postgresql/\(versions.last ?? "")/bin/\(name)"
    }

    static var asServer: [String] {
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    }

    static func run(_ arguments: [String]) throws {
        let process = try launch(["/usr/bin/env"] + arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: arguments.joined(separator: " ")) }
    }

    static func launch(_ arguments: [String]) throws -> ChildProcess {
        let process = ChildProcess()
        process.executableURL = URL(filePath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        return process
    }

    private struct Failure: Error {
        let command: String
    }
}
