/// A real tinyproxy as parent proxy. It asks for a password with a `407`, and refuses a wrong one with a `401`, both in the
/// realm `Tinyproxy`.
final class TinyproxyServer: Sendable {
    /// The password that it wants: its configuration allows letters and digits.
    static let password = "pArentPassw0rd7"

    let port: UInt16
    private let child: Subprocess

    var address: String { "127.0.0.1:\(port)" }

    init() throws {
        let folder = Scratch.folder("tinyproxy")
        port = FreePort.take()
        let lines = [
            "Port \(port)", "Listen 127.0.0.1", "Allow 127.0.0.1", "BasicAuth \(Account.user) \(Self.password)",
            "Timeout 600", "MaxClients 200",
        ]
        try Scratch.write(lines.map { $0 + "\n" }.joined(), to: folder + "/tinyproxy.conf")
        child = try Subprocess("tinyproxy", ["-d", "-c", folder + "/tinyproxy.conf"], directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }
}
