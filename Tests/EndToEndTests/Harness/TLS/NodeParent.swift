import Foundation
import TestSupport

/// A parent of Node, which speaks HTTP/2, and HTTP/1.1 to clients that ask for it. It opens tunnels and makes requests, all of
/// them to this machine, and prints a line for each.
final class NodeParent: Sendable {
    enum Mode: String, Sendable {
        case open
        /// It wants a password.
        case login
        /// It wants NTLM, and takes no answer.
        case ntlm
        /// It refuses each second stream unprocessed.
        case refuse
        /// It wants HTTP/1.1.
        case old
        /// It ends a connection in order after forty streams.
        case rolling
        /// It opens a tunnel when the server in it has spoken.
        case late
    }

    static let isInstalled = (try? Spawn.executable("node")) != nil
    static let account = "credential web { user \(Account.user); password file @/password }\n"
    /// The rule that answers the parent with the account.
    static let challenge = "\(account)challenge { proxy yes; host \(HTTP2Origin.host); use web }\n"

    let port = FreePort.take()
    private let child: Subprocess

    init(_ mode: Mode) throws {
        let folder = Scratch.folder("h2-parent")
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        try Scratch.write(Self.script, to: folder + "/parent.js")
        let login = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()
        child = try Subprocess(
            "node", [folder + "/parent.js", "\(port)", identity.chain, identity.leaf.key, mode.rawValue, login],
            directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }

    /// A line for each stream or request: version, connection, whether an answer to a challenge came, method, scheme and path.
    var lines: [String] { child.output.split(separator: "\n").map(String.init) }
    /// The number of HTTP/2 connections on which it was asked.
    var sessions: Int { Set(lines.filter { $0.hasPrefix("2.0") }.map { $0.split(separator: " ")[1] }).count }

    private static let script = """
        const fs = require('fs'), http = require('http'), http2 = require('http2'), net = require('net'), tls = require('tls');
        const [port, chain, key, mode, login] = process.argv.slice(2);
        const identity = { cert: fs.readFileSync(chain), key: fs.readFileSync(key) };
        const server = http2.createSecureServer({ ...identity, maxSessionMemory: 500,
            settings: { maxConcurrentStreams: 1000 } });
        const old = http.createServer();
        const front = tls.createServer({ ...identity, ALPNProtocols: ['h2', 'http/1.1'] }, socket => {
            if (socket.alpnProtocol === 'h2') server.emit('secureConnection', socket); else old.emit('connection', socket);
        });
        front.on('tlsClientError', () => {});
        let sessions = 0, refused = 0;
        server.on('sessionError', () => {});
        server.on('session', session => {
            session.number = ++sessions;
            session.served = 0;
            session.on('error', () => {});
        });
        const word = fields => fields['proxy-authorization'] ? 'login' : 'none';
        const isAdmitted = fields => mode !== 'ntlm'
            && (mode !== 'login' || fields['proxy-authorization'] === 'Basic ' + login);
        const challenge = mode === 'ntlm' ? 'NTLM' : 'Basic realm="up"';
        const connect = (authority, opened, failed) => {
            const socket = net.connect({ host: '127.0.0.1', port: Number(authority.split(':').pop()), allowHalfOpen: true },
                () => opened(socket));
            socket.on('error', failed);
            return socket;
        };
        const hop = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'transfer-encoding', 'te'];
        const passed = fields => Object.fromEntries(
            Object.entries(fields).filter(([name]) => name[0] !== ':' && !hop.includes(name)));
        const ask = (method, authority, path, fields) => http.request({ host: '127.0.0.1', agent: false, method, path,
            port: Number(authority.split(':').pop()), headers: { ...passed(fields), host: authority } });
        server.on('stream', (stream, head) => {
            stream.on('error', () => {});
            console.log(`2.0 ${stream.session.number} ${word(head)} ${head[':method']} ${head[':scheme']} ${head[':path']}`);
            if (!isAdmitted(head)) {
                stream.respond({ ':status': 407, 'proxy-authenticate': challenge });
                return stream.end('log in');
            }
            if (mode === 'refuse' && refused++ % 2 === 0) return stream.close(7);
            if (mode === 'old') return stream.close(13);
            if (mode === 'rolling' && ++stream.session.served === 40) stream.session.close();
            if (head[':method'] === 'CONNECT') {
                const socket = connect(head[':authority'], async socket => {
                    if (mode === 'late') socket.unshift(await new Promise(done => socket.once('data', done)));
                    stream.respond({ ':status': 200 });
                    socket.pipe(stream);
                    stream.pipe(socket);
                }, () => stream.close(10));
                stream.on('close', () => socket.destroy());
                return;
            }
            const request = ask(head[':method'], head[':authority'], head[':path'], head);
            request.on('error', () => stream.close(2));
            request.on('continue', () => stream.additionalHeaders({ ':status': 100 }));
            request.on('information', ({ statusCode, headers }) => {
                if (statusCode !== 100) stream.additionalHeaders({ ...passed(headers), ':status': statusCode });
            });
            request.on('response', response => {
                const waitForTrailers = head[':method'] !== 'HEAD' && response.statusCode !== 204;
                stream.respond({ ...passed(response.headers), ':status': response.statusCode }, { waitForTrailers });
                stream.on('wantTrailers', () => stream.sendTrailers(response.trailers));
                response.pipe(stream);
            });
            stream.on('trailers', fields => request.addTrailers(passed(fields)));
            stream.on('close', () => request.destroy());
            stream.pipe(request);
        });
        old.on('connect', (request, client) => {
            client.on('error', () => {});
            console.log(`1.1 0 ${word(request.headers)} CONNECT`);
            if (!isAdmitted(request.headers)) {
                return client.end(
                    `HTTP/1.1 407 No\\r\\nProxy-Authenticate: ${challenge}\\r\\nContent-Length: 0\\r\\n\\r\\n`);
            }
            const socket = connect(request.url, socket => {
                client.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
                socket.pipe(client);
                client.pipe(socket);
            }, () => client.destroy());
            client.on('close', () => socket.destroy());
        });
        old.on('request', (client, answer) => {
            console.log(`1.1 0 ${word(client.headers)} ${client.method} ${client.url}`);
            if (!isAdmitted(client.headers)) {
                answer.writeHead(407, { 'proxy-authenticate': challenge });
                return answer.end();
            }
            const url = new URL(client.url);
            const request = ask(client.method, url.host, url.pathname + url.search, client.headers);
            request.on('error', () => answer.destroy());
            request.on('response', response => {
                answer.writeHead(response.statusCode, passed(response.headers));
                response.pipe(answer);
            });
            client.pipe(request);
        });
        front.listen(Number(port), '127.0.0.1');
        """
}

extension AttacheProcess {
    /// Runs a proxy whose requests go through the parent of https at that port.
    ///
    /// - Parameter words: directives of the route.
    static func passing(
        through port: UInt16, rules: String = "", words: String = "", password: String = Account.password,
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let parent = "parent up { https \(HTTP2Origin.host):\(port) }\nroute * { via up; \(words) }\n"
        let setting = Setting(threads: 1, files: ["password": password + "\n"])
        try visitingZoo(rules + parent, setting: setting, body)
    }
}
