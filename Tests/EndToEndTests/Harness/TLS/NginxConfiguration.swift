import Foundation

/// A complete nginx.conf: nothing of the distribution's own configuration is used.
struct NginxConfiguration {
    /// One server block, on a port of its own.
    struct Server {
        let port: UInt16
        let name: String
        let identity: ServerIdentity
        var directives = ""
        var offersHTTP2 = false
        /// The port to which requests are forwarded without TLS, instead of the usual locations.
        var origin: UInt16?
    }

    let folder: String
    let servers: [Server]

    var path: String { folder + "/nginx.conf" }

    /// The members of a line of the access log, in order.
    static let logged = [
        "connection", "connection_requests", "server_port", "request_method", "request_uri", "status", "ssl_protocol",
        "ssl_session_reused", "ssl_server_name", "ssl_client_verify", "ssl_client_s_dn", "http_host",
    ]

    func write() throws {
        for name in ["www", "temporary"] { mkdir("\(folder)/\(name)", 0o777) }
        chmod(folder + "/temporary", 0o777)
        let made = try Finished.run("htpasswd", ["-bc", folder + "/users", Account.user, Account.password])
        guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        try Scratch.write(String(repeating: "zoo\n", count: 250_000), to: folder + "/www/large")
        // More than the system's buffers on the way to a client; a hole takes no room.
        try Scratch.write("", to: folder + "/www/huge")
        truncate(folder + "/www/huge", 64 << 20)
        try Scratch.write(text, to: path)
    }

    private var text: String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/temporary;"
        }
        let log = Self.logged.map { "$\($0)" }.joined(separator: "\\t")
        return """
            daemon off;
            worker_processes 1;
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log info;
            \(getuid() == 0 ? "user www-data;" : "")
            events { worker_connections 1024; }
            http {
                \(temporary.joined(separator: "\n    "))
                log_format attache '\(log)';
                access_log \(folder)/access.log attache;
                default_type text/plain;
                keepalive_timeout 60;
                keepalive_requests 100000;
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_session_cache shared:zoo:1m;
                ssl_verify_depth 3;
                absolute_redirect off;
            \(servers.map(block).joined(separator: "\n"))
            }

            """
    }

    private func block(_ server: Server) -> String {
        let staple = server.identity.staple.map { "ssl_stapling on; ssl_stapling_file \($0);" } ?? ""
        return """
            server {
                listen 127.0.0.1:\(server.port) ssl\(server.offersHTTP2 ? " http2" : "");
                ssl_certificate \(server.identity.chain);
                ssl_certificate_key \(server.identity.leaf.key);
                \(staple)
                \(server.directives)
                \(server.origin.map(passing) ?? locations(server.name))
            }
            """
    }

    private func passing(to port: UInt16) -> String {
        """
        location / {
            proxy_pass http://127.0.0.1:\(port);
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_buffering off;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection;
            client_max_body_size 0;
        }
        """
    }

    private func locations(_ name: String) -> String {
        """
                root \(folder)/www;
                location / { return 200 "this is \(name)\\n"; }
                location /client { return 200 "$ssl_client_verify $ssl_client_s_dn\\n"; }
                location /session { return 200 "$ssl_protocol $ssl_session_reused\\n"; }
                location /echo { return 200 "$request_method $http_host $request_uri\\n"; }
                location /close { keepalive_timeout 0; return 200 "closed\\n"; }
                location /large { }
                location /huge { }
                location /basic { auth_basic zoo; auth_basic_user_file \(folder)/users; try_files /large =404; }
                location /links {
                    add_header Content-Location https://$http_host/there always;
                    add_header Refresh "5; url=https://$http_host/there" always;
                    add_header Set-Cookie "one=1; Path=/; Secure; HttpOnly" always;
                    add_header Set-Cookie "two=2; secure" always;
                    add_header Strict-Transport-Security "max-age=31536000" always;
                    return 302 https://$http_host/there;
                }
                location /away { return 302 https://elsewhere.example.test/there; }
        """
    }
}
