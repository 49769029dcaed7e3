import Credentials
import IO
import Rules
import TLS

/// The lines that a start leaves on standard error: what runs, and what to try next.
struct StartReport {
    let configuration: Configuration
    let path: String
    let listeners: [SocketAddress]
    let admin: SocketAddress?
    /// Nil: there is none.
    let store: CredentialStorePlace?

    var lines: [String] {
        var lines = listeners.map { "listening on \($0)" }
        if let admin { lines.append("the admin listener is on \(admin)") }
        let counts = [
            (configuration.routes.count, "route"), (configuration.challenges.count, "challenge rule"),
            (configuration.credentials.count, "credential"),
        ]
        let words = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        lines.append("rules: \(path), with \(words)")
        if let store { lines.append("store: \(store)") }
        if let authority { lines.append(authority) }
        lines.append(
            "next: eval \"$(attache env)\" where tools run; attache explain --ask URL; attache challenges; attache help"
        )
        return lines
    }

    /// The authority that clients have to trust; nil where no tunnel is looked into.
    private var authority: String? {
        guard configuration.routes.contains(where: { $0.action == .intercept }),
            let store = AuthorityStore(configuration),
            let certificate = try? store.certificate(
                host: Environment.hostName, at: SystemClock.epochMilliseconds / 1000)
        else { return nil }
        return "authority: \(store.place.certificate), SHA-256 \(certificate.fingerprint)"
    }
}
