import Foundation

/// A real microsocks: SOCKS 5 with a user and a password.
struct SOCKSServer: Sendable {
    private static let started = Result { try SOCKSServer() }

    static func shared() throws -> SOCKSServer { try started.get() }

    let port = FreePort.take()
    private let child: Subprocess

    private init() throws {
        child = try Subprocess(
            "microsocks", ["-i", "127.0.0.1", "-p", "\(port)", "-u", Account.user, "-P", Account.password])
        try Socket.awaitListener(on: port, of: child)
    }

    var address: String { "127.0.0.1:\(port)" }
}
