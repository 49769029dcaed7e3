import Credentials
import IO
import Proxy
import Rules
import TLS

/// The lines for the operator after a start: what runs, and what to try next.
struct StartReport {
    let configuration: Configuration
    let path: String
    let listeners: [SocketAddress]
    /// The sockets in the file system that clients use.
    let sockets: [ClientListener]
    let admin: SocketAddress?
    /// The place of the store; nil if there is no store.
    let store: CredentialStore.Place?
    /// The addresses of sockets that the service manager has opened.
    var passed = PassedSockets.addresses

    func tell() {
        var places = listeners.map { "listening on \($0)\(origin(of: $0))" }
        places += sockets.map { "listening on \($0.place)" }
        if let admin { places.append("the admin listener is on \(admin)\(origin(of: admin))") }
        for address in passed where !listeners.contains(address) && address != admin {
            places.append("systemd has passed a socket on \(address), but no 'listen' or 'admin' names this address")
        }
        for place in places { Console.say(place, as: .proxyStarted) }
        for hint in hints { Console.hint(hint) }
    }

    private var hints: [String] {
        let counts = [
            (configuration.routes.count, "route"), (configuration.challenges.count, "challenge rule"),
            (configuration.credentials.count, "credential"),
        ]
        let words = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        var lines = ["rules: \(path), with \(words)"]
        if let store { lines.append("store: \(store)") }
        if let authority { lines.append(authority) }
        lines.append(
            "next: eval \"$(attache env)\" where tools run; attache explain --ask URL; attache challenges; attache help"
        )
        return lines
    }

    private func origin(of address: SocketAddress) -> String {
        passed.contains(address) ? ", by a socket from systemd" : ""
    }

    /// The line about the CA that clients must trust; nil if no tunnel is intercepted.
    private var authority: String? {
        guard configuration.routes.contains(where: { $0.action == .intercept }),
            let store = CAStore(configuration), let certificate = try? store.certificate()
        else { return nil }
        return "authority: \(store.place.certificate), SHA-256 \(certificate.fingerprint)"
    }
}
