import Foundation

/// SOCKS 4a by a few lines of Python, since no server of the distribution speaks it. It finds every name at 127.0.0.1, and
/// writes down what it was asked for.
struct SOCKS4Server: Sendable {
    let port = FreePort.take()
    private let child: Subprocess

    init() throws {
        child = try Subprocess("python3", ["-u", "-c", Self.script, "\(port)"])
        try Socket.awaitListener(on: port, of: child)
    }

    var address: String { "127.0.0.1:\(port)" }
    /// `host port` of each request.
    var asked: [String] { child.output.split(separator: "\n").map(String.init) }

    private static let script = """
        import asyncio, sys
        async def pump(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            finally:
                writer.close()
        async def serve(reader, writer):
            try:
                head = await reader.readexactly(8)
                await reader.readuntil(b'\\0')
                host = '.'.join(str(part) for part in head[4:])
                if head[4:7] == b'\\0\\0\\0':
                    host = (await reader.readuntil(b'\\0'))[:-1].decode()
            except asyncio.IncompleteReadError:
                return writer.close()
            port = int.from_bytes(head[2:4], 'big')
            print(host, port)
            try:
                inner = await asyncio.open_connection('127.0.0.1', port)
            except OSError:
                writer.write(bytes([0, 91]) + head[2:8])
                return writer.close()
            writer.write(bytes([0, 90]) + head[2:8])
            await asyncio.gather(pump(reader, inner[1]), pump(inner[0], writer))
        async def main():
            server = await asyncio.start_server(serve, '127.0.0.1', int(sys.argv[1]))
            await server.serve_forever()
        asyncio.run(main())
        """
}
