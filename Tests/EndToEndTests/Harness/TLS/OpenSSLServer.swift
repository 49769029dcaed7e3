import Foundation

/// `openssl s_server`, for what no web server does. One connection at a time.
final class OpenSSLServer: Sendable {
    let port: UInt16
    let folder: String
    private let child: Subprocess

    /// - Parameters:
    ///   - responses: whole responses, heads included, by the path that asks for them; a response ends with its connection.
    init(_ identity: ServerIdentity, _ options: [String] = [], responses: [String: String]) throws {
        folder = Scratch.folder("s_server")
        port = FreePort.take()
        for (path, response) in responses { try Scratch.write(response, to: folder + path) }
        let fixed = [
            "s_server", "-accept", "127.0.0.1:\(port)", "-HTTP", "-cert", identity.leaf.certificate, "-cert_chain",
            identity.chain, "-key", identity.leaf.key,
        ]
        child = try Subprocess("openssl", fixed + options, directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }

    var output: String { child.output }
    var errorOutput: String { child.errorOutput }
}
