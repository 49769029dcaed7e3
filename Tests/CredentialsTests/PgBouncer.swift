import Foundation
import Synchronization
import TestSupport
import Testing

/// PgBouncer of the distribution in front of a PostgreSQL server, on a free port of the loopback address.
final class PgBouncer: Sendable {
    private let port: UInt16
    private let folder: String
    private let running = Mutex<ChildProcess?>(nil)

    /// - Parameter server: the port of the PostgreSQL server.
    init(server: UInt16) throws {
        port = LoopbackPort.take()
        folder = FileManager.default.temporaryDirectory.appending(path: "attache-bouncer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try """
        [databases]
        * = host=127.0.0.1 port=\(server)
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = \(port)
        unix_socket_dir =
        auth_type = trust
        auth_file = \(folder)/users
        pool_mode = session
        logfile = \(folder)/log
        pidfile = \(folder)/pid
        server_login_retry = 1

        """.write(toFile: folder + "/pgbouncer.ini", atomically: true, encoding: .utf8)
        try "\"attache\" \"\"\n".write(toFile: folder + "/users", atomically: true, encoding: .utf8)
        // It refuses to run as root, like the server.
        if getuid() == 0 { try PostgreSQLServer.run(["chown", "-R", "postgres", folder]) }
        try start()
    }

    /// Starts it in the foreground, as a child of a shell that ends it when this process has ended for any reason.
    func start() throws {
        let program = (PostgreSQLServer.asServer + ["/usr/sbin/pgbouncer", folder + "/pgbouncer.ini"])
            .joined(separator: " ")
        let script = """
            \(program) & bouncer=$!
            while kill -0 \(getpid()) && kill -0 $bouncer; do sleep 0.2; done
            kill -KILL $bouncer; wait $bouncer
            kill -0 \(getpid()) || rm -rf \(folder)
            """
        let shell = try PostgreSQLServer.launch(["/bin/sh", "-c", script])
        running.withLock { $0 = shell }
    }

    /// Stops it at once, with connections open. (A child of a test may have inherited a mask of signals, and does not
    /// reset it.)
    func stop() throws {
        guard let shell = running.withLock({ $0 }) else { return }
        let pid = try String(contentsOfFile: folder + "/pid", encoding: .utf8).prefix { $0 != "\n" }
        try PostgreSQLServer.run(["kill", "-KILL", String(pid)])
        shell.waitUntilExit()
    }

    /// The connection string for the same database through PgBouncer.
    func info(_ direct: String) -> String {
        direct.replacing(/port=[0-9]+/, with: "port=\(port)")
    }

    var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }
}
