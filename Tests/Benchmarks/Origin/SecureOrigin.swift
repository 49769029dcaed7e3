import Glibc
import IO
import Model
import TLS

/// nginx before the contestants, with TLS and without: 1 KiB for every request but `/body-1m`, on ports that differ in what
/// they do with a connection.
final class SecureOrigin {
    /// TLS, connections kept.
    let kept: UInt16
    /// TLS, one request for each connection, no session resumed; by version.
    let full: [TLSVersion: UInt16]
    /// TLS, one request for each connection, sessions resumed.
    let resumed: [TLSVersion: UInt16]
    /// No TLS, one request for each connection.
    let plain: UInt16
    /// TLS and HTTP/2, connections kept.
    let streams: UInt16
    private let child: Child

    init(_ certificates: Certificates, in workspace: Workspace) throws(BenchError) {
        kept = try RunningContestant.freePort()
        let ports = { () throws(BenchError) in
            [.v12: try RunningContestant.freePort(), .v13: try RunningContestant.freePort()]
                as [TLSVersion: UInt16]
        }
        (full, resumed) = (try ports(), try ports())
        (plain, streams) = (try RunningContestant.freePort(), try RunningContestant.freePort())
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(workspace.path)/nginx;"
        }
        let large = OriginContent.Size.m1
        _ = try workspace.write(String(repeating: "a", count: large.bytes), to: String(large.path.dropFirst()))
        let server = { (port: UInt16, directives: String) in
            """
                server {
                    listen 127.0.0.1:\(port)\(directives);
                    location = \(large.path) { root \(workspace.path); }
                    location / { return 200 "\(String(repeating: "a", count: OriginContent.smallSize))"; }
                }

            """
        }
        let tickets = "ssl_session_cache shared:resumed:4m; ssl_session_tickets on"
        let none = "ssl_session_cache off; ssl_session_tickets off"
        let text = """
            \(getuid() == 0 ? "user root;" : "")
            daemon off;
            worker_processes 1;
            pid \(workspace.path)/nginx.pid;
            error_log stderr;
            events { worker_connections 4096; }
            http {
                \(paths.joined(separator: "\n    "))
                access_log off;
                default_type application/octet-stream;
                keepalive_requests 1000000000;
                keepalive_timeout 600;
                ssl_certificate \(certificates.chain);
                ssl_certificate_key \(certificates.key);

            """
        var servers = [
            server(kept, " ssl; \(tickets)"), server(streams, " ssl http2; \(tickets)"),
            server(plain, "; keepalive_timeout 0"),
        ]
        for (sessions, ports) in [(none, full), (tickets, resumed)] {
            for (version, port) in ports {
                let protocols = "ssl_protocols TLSv1.\(version == .v12 ? 2 : 3)"
                servers.append(server(port, " ssl; \(sessions); \(protocols); keepalive_timeout 0"))
            }
        }
        let file = try workspace.write(text + servers.joined() + "}\n", to: "nginx.conf")
        let log = "\(workspace.path)/nginx.log"
        child = try Child(["nginx", "-e", "stderr", "-p", workspace.path, "-c", file], log: log)
        if RunningContestant.listens(child, on: plain) { return }
        throw .machine("nginx did not start: \((Workspace.text(log) ?? "").prefix(500))")
    }

    func stop() { child.stop() }

    deinit { stop() }
}
