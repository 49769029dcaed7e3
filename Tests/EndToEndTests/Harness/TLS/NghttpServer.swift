import Foundation

/// nghttpd: a server that speaks HTTP/2 and nothing else.
final class NghttpServer: Sendable {
    let port: UInt16
    private let child: Subprocess

    init(_ identity: ServerIdentity) throws {
        let folder = Scratch.folder("nghttpd")
        port = FreePort.take()
        try Scratch.write("this is nghttpd\n", to: folder + "/index.html")
        let arguments = ["-a", "127.0.0.1", "-d", folder, "\(port)", identity.leaf.key, identity.chain]
        child = try Subprocess("nghttpd", arguments, directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }
}
