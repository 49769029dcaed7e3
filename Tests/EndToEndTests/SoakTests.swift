import Foundation
import TestSupport
import Testing

/// Clients of HTTP/2 that cancel, break off and leave, beside others that ask as they should: `make soak`. What the first ones
/// leave behind may not grow, and none of the others may notice them.
struct SoakTests {
    private static let minutes = ProcessInfo.processInfo.environment["ATTACHE_SOAK"].flatMap(Int.init)

    /// More KiB than the proxy may hold after the load than after a short one.
    private static let growth = 8_192

    @Test(.enabled(if: minutes != nil))
    func `streams that are cancelled leave nothing behind`() throws {
        let minutes = try #require(Self.minutes)
        // It sends uploads back.
        let origin = try HTTP2Origin(.nghttpd)
        try Scratch.write(String(repeating: "x", count: 8 << 20), to: origin.folder + "/www/large")
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let files = ["proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key)]
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let line = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key\n"
        try AttacheProcess.visitingZoo(line, setting: .init(log: "off", files: files)) { proxy throws in
            let authorities = proxy.folder + "/authorities.pem"
            let texts = [try proxy.exportedAuthority(), try Hierarchy.shared().root.certificate].map(Scratch.read)
            try Scratch.write(texts.joined(), to: authorities)
            func load(seconds: Int) throws {
                let words = ["\(port)", "\(proxy.port)", "\(HTTP2Origin.host):\(origin.port)", "\(seconds)"]
                let run = try Finished.run(
                    "node", ["-e", Self.script] + words, environment: ["NODE_EXTRA_CA_CERTS": authorities],
                    seconds: Double(seconds) + 120)
                print(run.output)
                let areAnswered = run.output.contains(#""good":"#) && !run.output.contains("bad:")
                #expect(areAnswered, "\(run)\n\(proxy.errorOutput)")
            }
            /// Waits until all connections are closed, those to the origin too.
            func rest() throws -> (descriptors: Int, memory: Int) {
                #expect(try Wait.until(seconds: 120) { try proxy.metric("attache_clients_open") == 0 })
                #expect(try Wait.until(seconds: 120) { try proxy.metric("attache_upstream_connections_idle") == 0 })
                #expect(try proxy.metric("attache_tunnels_open") == 0)
                return (try proxy.metric("process_open_fds"), try proxy.residentKiB())
            }
            try load(seconds: 30)
            let before = try rest()
            try load(seconds: minutes * 60)
            let after = try rest()
            let most = try proxy.residentKiB("VmHWM:")
            print("\(before.memory) KiB before, \(after.memory) KiB after, \(most) KiB at most")
            #expect(after.descriptors == before.descriptors)
            #expect(after.memory < before.memory + Self.growth, "\(before.memory) KiB grew to \(after.memory)")
            #expect(try proxy.metric("attache_http2_floods_total") == 0)
        }
    }

    private static let script = """
        const http2 = require('http2'), net = require('net'), tls = require('tls');
        const [listener, proxy, place, seconds] = process.argv.slice(1);
        const end = Date.now() + seconds * 1000, host = place.split(':')[0];
        const counts = {};
        const count = what => { counts[what] = (counts[what] ?? 0) + 1; };
        const pause = time => new Promise(resolve => setTimeout(resolve, time));
        const pick = list => list[Math.floor(Math.random() * list.length)];

        // A connection to the listener, or one in a tunnel, which the proxy intercepts.
        const connect = async isTunnel => {
            const way = net.connect(isTunnel ? proxy : listener, '127.0.0.1');
            way.on('error', () => {});
            if (isTunnel) {
                way.write(`CONNECT ${place} HTTP/1.1\\r\\nHost: ${place}\\r\\n\\r\\n`);
                await new Promise(resolve => { way.once('data', resolve); way.once('close', resolve); });
            }
            const secure = tls.connect({ socket: way, servername: isTunnel ? host : 'localhost', ALPNProtocols: ['h2'] });
            secure.on('error', () => {});
            const session = http2.connect('https://localhost', { createConnection: () => secure });
            session.way = way;
            session.scheme = isTunnel ? 'https' : 'http';
            return session;
        };
        const open = (session, path, method = 'GET') => {
            const stream = session.request({
                ':scheme': session.scheme, ':authority': place, ':path': path, ':method': method,
            }, { endStream: method === 'GET' });
            stream.on('error', () => {});
            stream.done = new Promise(resolve => stream.on('close', resolve));
            return stream;
        };

        // One request whose answer must be whole. The server sends uploads back.
        const ask = async session => {
            const [path, size, content] = pick([['/any', 11], ['/any', 11], ['/large', 8 << 20], ['/any', 100_000, 'y']]);
            const stream = open(session, path, content ? 'POST' : 'GET');
            let status, length = 0;
            stream.on('response', head => { status = head[':status']; });
            stream.on('data', piece => { length += piece.length; });
            if (content) stream.end(content.repeat(size));
            await stream.done;
            if (status === 200 && length === size) return count('good');
            count(`bad: ${path} ${status} ${length} RST ${stream.rstCode}`);
        };
        const good = async isTunnel => {
            while (Date.now() < end) {
                const session = await connect(isTunnel);
                session.on('error', error => count(`bad: connection ${error.code} ${error.message}`));
                session.on('goaway', code => count(`bad: goaway ${code}`));
                session.on('close', () => { if (!session.isDone) count('bad: close'); });
                const one = async () => {
                    for (let n = 0; n < 100 && Date.now() < end && !session.destroyed; n++) {
                        await ask(session);
                        await pause(20);
                    }
                };
                await Promise.all([one(), one(), one()]);
                session.isDone = true;
                session.close();
            }
        };

        const ways = {
            atOnce: async stream => { setImmediate(() => stream.close(8)); },
            afterHead: async stream => { stream.on('response', () => stream.close(8)); },
            half: async stream => {
                let length = 0;
                const most = Math.random() * 500_000;
                stream.on('data', piece => { length += piece.length; if (length > most) stream.close(8); });
            },
            stalled: async stream => { await pause(Math.random() * 500); stream.close(8); },
            upload: async stream => {
                for (let n = 0; n < 10 && !stream.destroyed; n++) { stream.write(Buffer.alloc(30_000)); await pause(2); }
                stream.close(8);
            },
        };
        const bad = async isTunnel => {
            while (Date.now() < end) {
                const session = await connect(isTunnel);
                session.on('error', () => {});
                const last = Date.now() + Math.random() * 3000;
                const one = async () => {
                    while (Date.now() < Math.min(last, end) && !session.closed && !session.destroyed) {
                        const way = pick(Object.keys(ways));
                        const stream = open(session, way === 'upload' ? '/any' : '/large', way === 'upload' ? 'POST' : 'GET');
                        count(way);
                        await Promise.all([ways[way](stream), stream.done]);
                        await pause(200 + Math.random() * 200);
                    }
                };
                const running = Promise.all([1, 2, 3, 4, 5].map(one));
                await pause(last - Date.now());
                count('dropped');
                if (Math.random() < 0.5) session.destroy(); else session.way.destroy();
                await running;
            }
        };
        (async () => {
            await Promise.all([good(false), good(true), bad(false), bad(true), bad(false), bad(true)]);
            console.log(JSON.stringify(counts));
            process.exit(0);
        })();
        """
}
