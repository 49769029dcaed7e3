import Foundation

/// TLS before an origin of the tests, connection by connection: what is bound to a connection stays so, which no reverse
/// proxy promises.
final class TLSTerminator: Sendable {
    let port = FreePort.take()
    let leaf: IssuedCertificate
    private let child: Subprocess

    /// - Parameters:
    ///   - origin: the port that takes the connections in clear.
    ///   - root: whose certificates clients have to show; nil: they show none.
    init(to origin: UInt16, clientsBelow root: String? = nil) throws {
        leaf = try Hierarchy.shared().issuing.issue(CertificateTerms(host: TLSFront.host))
        let chain = try IssuedCertificate.bundle([leaf.certificate] + leaf.intermediates)
        child = try Subprocess("python3", ["-c", Self.script, chain, leaf.key, "\(port)", "\(origin)", root ?? ""])
        try Socket.awaitListener(on: port, of: child)
    }

    var authority: String { "\(TLSFront.host):\(port)" }

    /// The SHA-256 of the certificate.
    func fingerprint() throws -> String {
        let der = leaf.certificate + ".der"
        try OpenSSLCommand.run("x509", "-in", leaf.certificate, "-outform", "der", "-out", der)
        return try Hash.sha256(ofFile: der)
    }

    /// The function by which a script of Python copies one direction of a connection.
    static let pump = """
        async def pump(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except (OSError, ssl.SSLError):
                pass
            finally:
                writer.close()
        """

    private static let script = """
        import asyncio, ssl, sys
        chain, key, port, origin, root = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        if root:
            context.load_verify_locations(root)
            context.verify_mode = ssl.CERT_REQUIRED
        \(pump)
        async def serve(reader, writer):
            inner = await asyncio.open_connection('127.0.0.1', int(origin))
            await asyncio.gather(pump(reader, inner[1]), pump(inner[0], writer))
        async def main():
            server = await asyncio.start_server(serve, '127.0.0.1', int(port), ssl=context)
            await server.serve_forever()
        asyncio.run(main())
        """
}
