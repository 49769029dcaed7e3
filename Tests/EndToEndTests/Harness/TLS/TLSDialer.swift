import TestSupport

/// Dials a TLS server for clients that write in clear, and agrees on `h2`.
final class TLSDialer: Sendable {
    let port = FreePort.take()
    private let child: Subprocess

    init(to server: UInt16) throws {
        child = try Subprocess("python3", ["-c", Self.script, "\(port)", "\(server)"])
        guard Wait.until(seconds: 60, { child.output == "ready\n" || !child.isRunning }), child.isRunning else {
            throw Spawn.Failure(description: child.errorOutput)
        }
    }

    deinit { FreePort.release(port) }

    private static let script = """
        import asyncio, ssl, sys
        port, server = map(int, sys.argv[1:])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(['h2'])
        \(TLSTerminator.pump)
        async def serve(reader, writer):
            try:
                outer = await asyncio.open_connection('127.0.0.1', server, ssl=context)
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
