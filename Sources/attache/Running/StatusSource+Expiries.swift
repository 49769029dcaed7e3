import Admin
import Authentication
import Credentials
import IO
import Model
import Rules
import Synchronization
import Telemetry
import Upstream

extension StatusSource {
    /// The items with a known end: certificates, tokens, tickets and exceptions, of the rule file, the store and the
    /// proxy itself. They are collected from time to time on a thread that may wait, because stored ones must be
    /// decrypted.
    final class Expiries: Sendable {
        private struct State {
            var list: [Expiry] = []
            /// The number of checks until they are collected again.
            var rest = 0
            /// The number of the TLS policy when they were collected.
            var number = 0
        }

        private let state = Mutex(State())

        private static let interval = 30

        /// The items, the soonest first. Tickets and fetched tokens, which live for hours, are those of this moment.
        func list(with setup: Setup, _ storage: StoredCredentials, _ tokens: TokenStore) -> [Expiry] {
            var expiries = state.withLock { $0.list }
            for configured in setup.rules.configuration.credentials {
                let credential = try? setup.credentials.credential(named: configured.name)
                guard let end = credential?.principal?.ticketEnd else { continue }
                expiries.append(Expiry(kind: "Kerberos ticket", name: configured.name, end: end))
            }
            for (space, credentials) in storage.ticketHolders {
                for credential in credentials.values {
                    // An expired one is renewed only when it is used again.
                    guard let end = credential.principal?.ticketEnd, end > SystemClock.wallTime else {
                        continue
                    }
                    let name = credential.storedName(for: space) ?? credential.version.name
                    expiries.append(Expiry(kind: "Kerberos ticket", name: name, place: space.origin.words, end: end))
                }
            }
            for (name, end) in tokens.ends(after: SystemClock.wallTime) {
                expiries.append(Expiry(kind: "fetched token", name: name, end: end))
            }
            return Self.sorted(expiries)
        }

        private static func sorted(_ expiries: [Expiry]) -> [Expiry] {
            expiries.sorted { ($0.end, $0.name) < ($1.end, $1.name) }
        }

        /// Makes the next check collect them again.
        func expire() { state.withLock { $0.rest = 0 } }

        /// Whether it is time to collect them. Call it about once a second.
        func isDue(with answers: TLSPolicyEpoch) -> Bool {
            let number = answers.number
            return state.withLock { state in
                state.rest -= 1
                guard state.rest <= 0 || state.number != number else { return false }
                (state.rest, state.number) = (Self.interval, number)
                return true
            }
        }

        /// Blocks.
        func gather(_ setup: Setup, _ storage: StoredCredentials, _ identities: ListenerCertificates) {
            var expiries = identities.expiries
            for configured in setup.rules.configuration.credentials {
                guard let credential = try? setup.credentials.credential(named: configured.name),
                    let end = credential.expiry
                else { continue }
                expiries.append(Expiry(kind: credential.words, name: configured.name, end: end))
            }
            for challenge in setup.rules.configuration.challenges {
                guard case .trust(let terms) = challenge.action, let until = terms.until else { continue }
                expiries.append(Expiry(kind: "exception", name: challenge.rule.label, end: until.end))
            }
            for (space, credentials) in storage.credentials(of: [.certificate, .token, .trust]) {
                for credential in credentials.values {
                    guard let end = credential.expiry else { continue }
                    let name = credential.storedName(for: space) ?? credential.version.name
                    expiries.append(
                        Expiry(kind: "stored \(credential.words)", name: name, place: space.origin.words, end: end))
                }
            }
            let list = Self.sorted(expiries)
            state.withLock { $0.list = list }
        }
    }
}

extension Credential {
    /// The kind of credential, for people.
    fileprivate var words: String {
        switch kind {
        case .certificate: "client certificate"
        case .token: "token"
        case .trust: "exception"
        case .password, nil: "credential"
        }
    }
}
