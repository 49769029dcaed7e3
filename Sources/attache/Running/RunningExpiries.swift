import Admin
import Authentication
import Credentials
import Model
import Rules
import Synchronization
import Upstream

/// What ends on a day that is known: certificates, tokens and exceptions, of the rule file and of the store, and the proxy's
/// own. Gathered now and then by the thread that may wait, since stored ones are opened for it.
final class RunningExpiries: Sendable {
    private let gathered = Mutex<[Expiry]>([])

    /// Those that are told, the first to end of all.
    private static let limit = 200

    /// The first to end comes first.
    var list: [Expiry] { gathered.withLock { $0 } }

    /// Blocks.
    func gather(_ setup: Setup, _ storage: any CredentialStorage, _ identities: OwnIdentities) {
        var expiries = identities.expiries
        for configured in setup.rules.configuration.credentials {
            guard let credential = try? setup.credentials.credential(named: configured.name),
                let lastDay = credential.lastDay
            else { continue }
            expiries.append(Expiry(kind: credential.words, name: configured.name, lastDay: lastDay))
        }
        for (space, credentials) in storage.credentials(of: [.certificate, .token, .trust]) {
            for credential in credentials.values {
                guard let lastDay = credential.lastDay else { continue }
                let name = credential.storedName(for: space) ?? credential.version.name
                expiries.append(
                    Expiry(
                        kind: "stored \(credential.words)", name: name, place: space.origin.words,
                        lastDay: lastDay))
            }
        }
        expiries.sort { ($0.lastDay, $0.name) < ($1.lastDay, $1.name) }
        gathered.withLock { $0 = Array(expiries.prefix(Self.limit)) }
    }
}

extension Credential {
    /// For people: what it is.
    fileprivate var words: String {
        switch kind {
        case .certificate: "client certificate"
        case .token: "token"
        case .trust: "exception"
        case .password, nil: "credential"
        }
    }
}
