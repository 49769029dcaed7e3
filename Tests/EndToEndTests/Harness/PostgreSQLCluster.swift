import Foundation
import TestSupport

/// A PostgreSQL server of the distribution on a port of its own, which can be stopped and started again, and PgBouncer
/// before it.
final class PostgreSQLCluster {
    let port = FreePort.take()
    let bouncerPort = FreePort.take()
    private let folder = Scratch.folder("postgresql")
    private var server: Subprocess?
    private var bouncer: Subprocess?

    init() throws {
        try make("initdb", ["-D", folder + "/data", "-U", "attache", "-A", "trust", "-E", "UTF8", "--no-sync"])
        try start()
    }

    /// A hot standby, which takes over by `promote`.
    init(standbyOf primary: PostgreSQLCluster) throws {
        try make(
            "pg_basebackup",
            [
                "-h", "127.0.0.1", "-p", "\(primary.port)", "-U", "attache", "-D", folder + "/data", "-R", "-X",
                "stream",
                "-c", "fast", "--no-sync",
            ])
        try start()
    }

    private func make(_ program: String, _ arguments: [String]) throws {
        chmod(folder, 0o755)
        if getuid() == 0 { _ = try Finished.run("chown", ["postgres", folder], seconds: 10) }
        try run(program, arguments)
    }

    /// One of the server's own programs, to its end.
    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let command = try asServer(program, arguments)
        let run = try Finished.run(command.program, command.arguments, directory: folder, seconds: 60)
        guard run.succeeded else { throw Spawn.Failure(description: "\(run)") }
        return run.output
    }

    /// Makes a standby the primary.
    func promote() throws { try run("pg_ctl", ["promote", "-w", "-D", folder + "/data"]) }

    /// Whether the table comes to have that many rows.
    func holds(_ table: String, rows count: Int) throws -> Bool {
        try Wait.until { try ask("SELECT COUNT(*) FROM \(table)") == "\(count)" }
    }

    private func ask(_ query: String) throws -> String {
        let arguments = ["-h", "127.0.0.1", "-p", "\(port)", "-U", "attache", "-d", "postgres", "-qAtc", query]
        return try run("psql", arguments).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// libpq's connection string for the store.
    var info: String { "host=127.0.0.1 port=\(port) user=attache dbname=postgres" }
    /// The connection string through PgBouncer.
    var bouncedInfo: String { "host=127.0.0.1 port=\(bouncerPort) user=attache dbname=postgres" }

    func start() throws {
        let command = try asServer(
            "postgres",
            [
                "-D", folder + "/data", "-p", "\(port)", "-c", "listen_addresses=127.0.0.1", "-c",
                "unix_socket_directories=", "-c", "shared_buffers=16MB",
            ])
        let child = try Subprocess(command.program, command.arguments, directory: folder)
        server = child
        let isReady = try Wait.until(seconds: 60) {
            try Finished.run(
                Self.path("pg_isready"), ["-q", "-h", "127.0.0.1", "-p", "\(port)", "-d", "postgres"], seconds: 10
            ).succeeded
        }
        guard isReady else { throw Spawn.Failure(description: "PostgreSQL does not start: \(child.errorOutput)") }
    }

    /// Clients' connections are broken at once.
    func stop() {
        guard let server else { return }
        // A child of setpriv takes its place: the process is the server itself.
        server.signal(SIGINT)
        _ = server.wait(seconds: 30)
        self.server = nil
    }

    /// - Parameter mode: its `pool_mode`.
    func startBouncer(mode: String = "session") throws {
        let file = folder + "/pgbouncer.ini"
        try Scratch.write(
            """
            [databases]
            postgres = host=127.0.0.1 port=\(port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(bouncerPort)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode)
            ignore_startup_parameters = extra_float_digits

            """.replacing("postgres = host", with: "postgres = user=attache host"), to: file)
        let privileges =
            getuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--clear-groups", "pgbouncer", file] : [file]
        let child = try Subprocess(getuid() == 0 ? "setpriv" : "pgbouncer", privileges, directory: folder)
        bouncer = child
        try Socket.awaitListener(on: bouncerPort, of: child)
    }

    deinit { stop() }

    /// The server refuses to run as root.
    private func asServer(_ name: String, _ arguments: [String]) throws -> (program: String, arguments: [String]) {
        let program = try Self.path(name)
        if getuid() != 0 { return (program, arguments) }
        return ("setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments)
    }

    /// Debian keeps the server's programs out of the path.
    private static func path(_ name: String) throws -> String {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").sorted()
        return "/usr/lib/postgresql/\(versions.last ?? "")/bin/\(name)"
    }
}
