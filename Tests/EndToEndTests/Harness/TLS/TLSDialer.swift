import TestSupport

/// Dials a TLS server for clients that write in clear, and agrees on `h2`.
final class TLSDialer: Sendable {
    let port = FreePort.take()
    private let child: Subprocess

    /// - Parameter destination: the server that a tunnel leads to, as in CONNECT; nil if the port is the TLS server's.
    init(to server: UInt16, tunnellingTo destination: String? = nil) throws {
        child = try Subprocess("python3", ["-c", Self.script, "\(port)", "\(server)", destination ?? ""])
        guard Wait.until(seconds: 60, { child.output == "ready\n" || !child.isRunning }), child.isRunning else {
            throw Spawn.Failure(description: child.errorOutput)
        }
    }

    deinit { FreePort.release(port) }

    private static let script = """
        import asyncio, socket, ssl, sys
        port, server, destination = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(['h2'])
        \(TLSTerminator.pump)
        def connect():
            way = socket.create_connection(('127.0.0.1', server))
            if destination:
                way.sendall(f'CONNECT {destination} HTTP/1.1\\r\\nHost: {destination}\\r\\n\\r\\n'.encode())
                head = b''
                while not head.endswith(b'\\r\\n\\r\\n'):
                    head += way.recv(1) or exit('the tunnel was refused')
            way.setblocking(False)
            return way
        async def serve(reader, writer):
            try:
                way = await asyncio.get_running_loop().run_in_executor(None, connect)
                outer = await asyncio.open_connection(sock=way, ssl=context, server_hostname='\(TLSFront.host)')
            except (OSError, ssl.SSLError):
                return writer.close()
            await asyncio.gather(pump(reader, outer[1]), pump(outer[0], writer))
        async def main():
            listener = await asyncio.start_server(serve, '127.0.0.1', port)
            print('ready', flush=True)
            await listener.serve_forever()
        asyncio.run(main())
        """
}

extension AttacheProcess {
    /// Runs a proxy of one loop that speaks HTTP/2 in intercepted tunnels.
    static func interceptingHTTP2(
        _ rules: String = "", to destination: String, _ body: (AttacheProcess, TLSDialer) throws -> Void
    ) throws {
        var setting = Setting(threads: 1)
        setting.environment = try environmentOfZoo()
        try running(rules + "\nroute \(TLSFront.host) { intercept; http2 yes }\n", setting: setting) { proxy throws in
            try body(proxy, TLSDialer(to: proxy.port, tunnellingTo: destination))
        }
    }

    /// Runs a proxy of one loop with a listener that speaks HTTP/2.
    static func speakingHTTP2(
        _ rules: String = "", clients: String = Setting().clients,
        _ body: (AttacheProcess, TLSDialer) throws -> Void
    ) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let files = ["proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key)]
        let line = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key http2 yes\n"
        let setting = Setting(clients: clients, threads: 1, files: files)
        try running(line + rules, setting: setting) { proxy throws in
            try body(proxy, TLSDialer(to: port))
        }
    }
}
