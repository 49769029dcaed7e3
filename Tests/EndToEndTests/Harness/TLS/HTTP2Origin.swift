import Foundation
import TestSupport

/// A server of another project that speaks HTTP/2, and HTTP/1.1 to clients that ask for it. `/any` says "this is h2".
final class HTTP2Origin: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case nginx, apache, nghttpd, node, caddy, lighttpd, h2o, hypercorn, envoy

        fileprivate var program: String {
            switch self {
            case .apache: "apache2"
            case .hypercorn, .envoy: "python3"
            default: rawValue
            }
        }

        var isInstalled: Bool {
            if self == .lighttpd, access("/usr/lib/lighttpd/mod_openssl.so", R_OK) != 0 { return false }
            return (try? Spawn.executable(program)) != nil
        }
    }

    static let host = "h2.example.test"

    let port: UInt16
    let folder: String
    private let child: Subprocess?
    private let nginx: NginxServer?

    /// - Parameters:
    ///   - directives: more lines of nginx.
    ///   - window: the window of each stream of Node, in bytes.
    init(_ kind: Kind, directives: String = "", window: Int = 65_535) throws {
        folder = Scratch.folder("h2-\(kind.rawValue)")
        port = FreePort.take()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: Self.host)))
        mkdir(folder + "/www", 0o755)
        try Scratch.write("this is h2\n", to: folder + "/www/any")
        if kind == .nginx {
            child = nil
            nginx = try NginxServer([
                .init(port: port, name: "h2", identity: identity, directives: directives, offersHTTP2: true)
            ])
            return
        }
        nginx = nil
        let (chain, key) = (identity.chain, identity.leaf.key)
        if kind == .envoy {
            child = try HTTP2Relay.envoy(folder, port, chain, key, routes: Self.answering)
        } else {
            let (arguments, environment) = try Self.command(kind, folder, port, chain, key, window)
            child = try Subprocess(kind.program, arguments, environment: environment, directory: folder)
        }
        if let child { try Socket.awaitListener(on: port, of: child) }
    }

    /// The URL by which a client of the proxy asks for it; the route makes it https.
    func url(_ path: String = "/any") -> String { "http://\(Self.host):\(port)\(path)" }

    /// The requests that the server of Node has counted, by path.
    func count(of path: String) -> Int {
        (child?.output ?? "").split(separator: "\n").count { $0.hasPrefix("\(path) ") }
    }

    var output: String { child?.output ?? "" }
    var errorOutput: String { child?.errorOutput ?? "" }

    /// The lines of Apache's log for requests that have the mark, `connection status version`.
    func entries(marked mark: String, atLeast count: Int = 1) -> [String] {
        var found: [String] = []
        _ = Wait.until {
            found = Scratch.read(folder + "/access.log").split(separator: "\n").filter { $0.contains(mark) }
                .map { $0.split(separator: "\t").prefix(3).joined(separator: " ") }
            return found.count >= count
        }
        return found
    }

    /// Envoy's routes.
    private static let answering =
        #"[ { match: { path: /any }, direct_response: { status: 200, body: { inline_string: "this is h2\n" } } } ]"#

    private static func command(
        _ kind: Kind, _ folder: String, _ port: UInt16, _ chain: String, _ key: String, _ window: Int
    ) throws -> (arguments: [String], environment: [String: String]) {
        func file(_ name: String, _ text: String) throws -> String {
            try Scratch.write(text, to: "\(folder)/\(name)")
            return "\(folder)/\(name)"
        }
        switch kind {
        case .nginx, .envoy: return ([], [:])
        case .nghttpd:
            // It sends uploads back.
            return (["-a", "127.0.0.1", "-d", folder + "/www", "--echo-upload", "\(port)", key, chain], [:])
        case .node: return ([try file("server.js", script(port, chain, key, window))], [:])
        case .caddy:
            let text = """
                {
                    admin off
                    auto_https off
                    storage file_system \(folder)/store
                }
                https://\(host):\(port) {
                    bind 127.0.0.1
                    tls \(chain) \(key)
                    root * \(folder)/www
                    file_server
                }

                """
            return (["run", "--adapter", "caddyfile", "--config", try file("Caddyfile", text)], [:])
        case .lighttpd:
            let text = """
                server.modules = ("mod_openssl")
                server.bind = "127.0.0.1"
                server.port = \(port)
                server.document-root = "\(folder)/www"
                server.feature-flags = ("server.h2proto" => "enable")
                ssl.engine = "enable"
                ssl.pemfile = "\(chain)"
                ssl.privkey = "\(key)"

                """
            return (["-D", "-f", try file("lighttpd.conf", text)], [:])
        case .h2o:
            let text = """
                \(getuid() == 0 ? "user: nobody\n" : "")hosts:
                  "\(host):\(port)":
                    listen:
                      host: 127.0.0.1
                      port: \(port)
                      ssl:
                        certificate-file: \(chain)
                        key-file: \(key)
                    paths:
                      /:
                        file.dir: \(folder)/www

                """
            return (["-m", "worker", "-c", try file("h2o.conf", text)], [:])
        case .hypercorn:
            _ = try file(
                "application.py",
                """
                async def application(scope, receive, send):
                    if scope["type"] != "http":
                        return
                    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
                    await send({"type": "http.response.body", "body": b"this is h2\\n"})

                """)
            return (
                [
                    "-m", "hypercorn", "--bind", "127.0.0.1:\(port)", "--certfile", chain, "--keyfile", key,
                    "application:application",
                ],
                try PythonPackages.serverEnvironment().merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
            )
        case .apache:
            return (
                ["-f", try file("httpd.conf", try apache(folder, port, chain, key)), "-DFOREGROUND"],
                [
                    "NTLM_USER_FILE": folder + "/users", "NETBIOS_COMPUTER_NAME": "NTSRV",
                    "NETBIOS_DOMAIN_NAME": Account.domain,
                ]
            )
        }
    }

    /// An Apache with folders that ask for a login by Digest or NTLM, and for a certificate behind the handshake.
    private static func apache(_ folder: String, _ port: UInt16, _ chain: String, _ key: String) throws -> String {
        mkdir(folder + "/run", 0o777)
        chmod(folder + "/run", 0o777)
        for name in ["digest", "ntlm", "need"] {
            mkdir("\(folder)/www/\(name)", 0o755)
            try Scratch.write("this is \(name)\n", to: "\(folder)/www/\(name)/any")
        }
        let digest = try Hash.hex("md5", "\(Account.user):h2-realm:\(Account.password)")
        try Scratch.write("\(Account.user):h2-realm:\(digest)\n", to: folder + "/digest")
        let users = Account.ntlmUsers.map { "\(Account.domain):\($0):\(Account.ntlmPasswords[$0] ?? "")\n" }
        try Scratch.write(users.joined(), to: folder + "/users")
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "auth_gssapi", "env",
            "mime",
            "dir", "log_config", "unixd", "ssl", "socache_shmcb", "http2",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName \(host)
            Listen 127.0.0.1:\(port)
            \(getuid() == 0 ? "User www-data\nGroup www-data" : "")
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            ErrorLog error.log
            LogLevel warn
            LogFormat "%{c}L\\t%>s\\t%H\\t%U%q" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            StartServers 1
            ServerLimit 2
            ThreadsPerChild 64
            MaxRequestWorkers 128
            KeepAlive On
            KeepAliveTimeout 30
            TypesConfig /dev/null
            DocumentRoot www
            Protocols h2 http/1.1
            SSLEngine on
            SSLProtocol TLSv1.3
            SSLCertificateFile \(chain)
            SSLCertificateKeyFile \(key)
            SSLCACertificateFile \(try Hierarchy.shared().root.certificate)
            SSLVerifyDepth 3
            SSLSessionCache shmcb:\(folder)/run/sessions(512000)
            <Directory \(folder)/www>
                Require all granted
            </Directory>
            <Location /digest/>
                AuthType Digest
                AuthName h2-realm
                AuthDigestProvider file
                AuthUserFile \(folder)/digest
                Require valid-user
            </Location>
            <Location /ntlm/>
                AuthType GSSAPI
                AuthName NTLM
                GssapiAllowedMech ntlmssp
                GssapiConnectionBound On
                Require valid-user
            </Location>
            <Location /need/>
                SSLVerifyClient require
            </Location>

            """
    }

    /// A server of Node that misbehaves on some paths. It prints a line for each request.
    private static func script(_ port: UInt16, _ chain: String, _ key: String, _ window: Int) -> String {
        """
        const fs = require('fs'), http2 = require('http2');
        const server = http2.createSecureServer({ cert: fs.readFileSync('\(chain)'), key: fs.readFileSync('\(key)'),
            allowHTTP1: true, maxSessionMemory: 500, settings: { maxConcurrentStreams: 100, initialWindowSize: \(window) } });
        let refused = 0, sessions = 0;
        server.on('session', session => {
            session.number = ++sessions;
            session.served = 0;
            session.on('error', () => {});
        });
        server.on('sessionError', () => {});
        server.on('request', (request, response) => {
            const [path, query] = request.url.split('?');
            const session = request.stream?.session;
            console.log(`${path} ${request.httpVersion} ${request.method} ${session ? session.number : 0}`);
            response.on('error', () => {});
            request.on('error', () => {});
            const old = request.httpVersion !== '2.0';
            if (session) session.served++;
            const answer = (status, text) => {
                let size = 0;
                request.on('data', piece => { size += piece.length; });
                request.on('end', () => {
                    response.writeHead(status, { 'content-type': 'text/plain' });
                    response.end(text ?? `${size} ${request.httpVersion}\\n`);
                });
            };
            if (path === '/refuse' && !old && refused++ % 2 === 0) return request.stream.close(7);
            if (path === '/old' && !old) return request.stream.close(13);
            if (path === '/reset' && !old) return request.stream.close(Number(query ?? 2));
            if (path === '/cut' && !old) {
                response.writeHead(200, { 'content-type': 'text/plain' });
                response.write('begun');
                return session.ping(() => request.stream.close(Number(query)));
            }
            if (path === '/kill') return old ? request.socket.destroy() : session.destroy();
            if (path === '/misdirected' && !old && session.served > 1) return answer(421, 'not here\\n');
            if (path === '/rolling' && !old && session.served === 20) session.close();
            if (path === '/large') {
                response.writeHead(200, { 'content-type': 'text/plain' });
                return response.end(Buffer.alloc(8 << 20, 'x'));
            }
            // A call of gRPC, whose message says when and with which code its stream is reset.
            if (path === '/test/Unary') {
                return request.once('data', piece => {
                    const [, begun, code] = /(head )?(\\d+)/.exec(piece.subarray(5).toString());
                    if (begun) {
                        response.writeHead(200, { 'content-type': 'application/grpc' });
                        response.flushHeaders();
                    }
                    // The client answers the PING behind the head.
                    session.ping(() => request.stream.close(Number(code)));
                });
            }
            // A whole response at the first piece of the request. With `open`, the stream ends with the request; with `last`, it
            // is the last one of its connection, and the request is read slowly; with `stuck`, no more is read.
            if (path === '/early') {
                let size = 0;
                request.once('data', () => {
                    response.writeHead(201, { 'content-length': 5 });
                    response.write('early');
                    if (query !== 'open') response.end();
                    if (query === 'last') session.close();
                });
                request.on('data', piece => {
                    size += piece.length;
                    if (query === 'last' || query === 'stuck') request.pause();
                    if (query === 'last') setTimeout(() => request.resume(), 5);
                });
                request.on('aborted', () => console.log(`/aborted ${size} bytes`));
                return request.on('end', () => { console.log(`/read ${size} bytes`); response.end(); });
            }
            if (path === '/late') return request.on('end', () => setTimeout(() => answer(200), 300)).resume();
            answer(200, path === '/any' ? 'this is h2\\n' : undefined);
        });
        server.listen(\(port), '127.0.0.1');

        """
    }
}
