import Authentication
import Bytes
import Credentials
import Model

/// The credentials of a proxy, each with the state of its value: the list that commands, dashboard and metrics share.
public struct CredentialList: Sendable {
    /// The entries, the worst first. Within a state, the rule file's come by name, then the store's by server.
    public let entries: [CredentialList.Entry]

    /// - Parameters:
    ///   - configured: the credentials of the rule file.
    ///   - stored: the credentials of the store.
    ///   - accounts: the servers' verdicts on values.
    public init(
        configured: [ConfiguredCredential], stored: [CredentialList.StoredPlace], accounts: [Account.Shared],
        at now: WallTime
    ) {
        var entries: [CredentialList.Entry] = []
        var byName: [ExactText: [Account.Shared]] = [:]
        var byVersion: [CredentialVersion: Account.Shared] = [:]
        for account in accounts where account.owner == nil {
            byName[account.version.key, default: []].append(account)
            byVersion[account.version] = account
        }
        for credential in configured {
            let source = CredentialList.Entry.Source(credential.content)
            let versions = byName[ExactText(credential.name)] ?? []
            for version in versions { byVersion[version.version] = nil }
            // A grant and its token are one credential to an operator.
            let isOne = versions.isEmpty || versions.contains(where: \.version.isGrant)
            for known in isOne ? [versions] : versions.map({ [$0] }) {
                entries.append(CredentialList.Entry(credential.name, source, known, at: now))
            }
        }
        for place in stored {
            let known = place.version.flatMap { byVersion.removeValue(forKey: $0) }
            let name = place.space.credentialName(of: place.user)
            entries.append(CredentialList.Entry(name, .store(place), known.map { [$0] } ?? [], at: now))
        }
        entries += accounts.filter { $0.owner != nil || byVersion[$0.version] != nil }.map {
            CredentialList.Entry($0.version.name, .client, [$0], at: now)
        }
        self.entries = entries.sorted { left, right in
            left.standing.state != right.standing.state
                ? left.standing.state.rank > right.standing.state.rank
                : left.place.lexicographicallyPrecedes(right.place)
        }
    }

    /// Creates an empty list.
    public init() { entries = [] }

    /// The number of credentials in each state that occurs, the worst first.
    public var states: [(state: Account.State, count: Int)] {
        let judged = entries.filter(\.isJudged)
        return Account.State.allCases.reversed().compactMap { state in
            let count = judged.count { $0.standing.state == state }
            return count > 0 ? (state, count) : nil
        }
    }

    /// The number of credentials that are not sent to some server.
    public var heldCount: Int { entries.count(where: \.standing.isOnHold) }

    /// A credential, with the state of its value.
    public struct Entry: Sendable {
        /// The owner of the value.
        public enum Source: Sendable {
            case ruleFile(CredentialSource)
            /// A token that was fetched with a credential of the rule file.
            case token(CredentialSource)
            case store(CredentialList.StoredPlace)
            /// A request's URL, or a client's own answer that the proxy has learned.
            case client

            fileprivate init(_ content: CredentialSource) {
                switch content {
                case .oauth, .registry: self = .token(content)
                default: self = .ruleFile(content)
                }
            }

            /// Whether only the KDC of its realm judges it.
            fileprivate var isPrincipal: Bool { if case .ruleFile(.kerberos) = self { true } else { false } }

            /// The source in a word or two.
            public var words: String {
                switch self {
                case .ruleFile: "rule file"
                case .token: "token"
                case .store: "store"
                case .client: "client"
                }
            }
        }

        /// The state at a server.
        public struct Server: Sendable {
            /// The name of the server, see `Origin.serverName`.
            public let name: String
            public let standing: Account.Standing
            /// The subject of its latest refusal; nil if it has refused nothing since it accepted.
            public let reason: String?
            public let hasAccepted: Bool
            /// The time when the server last accepted the value; nil if unknown.
            public let lastAccepted: WallTime?
            public let lastRefused: WallTime?

            fileprivate init(_ record: Account.Record, standing: Account.Standing) {
                let isTicketed = record.takesTickets && !record.isKnown && record.lastRefused == 0
                name = record.server
                // A doubt about the value does not keep a ticket from being shown.
                self.standing = isTicketed ? .good : standing
                reason = record.reason
                hasAccepted = record.isKnown || record.takesTickets
                lastAccepted = record.lastAccepted > 0 ? record.lastAccepted : nil
                lastRefused = record.lastRefused > 0 ? record.lastRefused : nil
            }
        }

        public let name: String
        public let source: Source
        /// Whether servers accept or refuse it. False for an exception for a server's key.
        public let isJudged: Bool
        /// The worst state at any server.
        public let standing: Account.Standing
        /// The servers that have accepted or refused the value.
        public let servers: [Server]
        /// The times when the value was first seen and last sent; nil if unknown.
        public let since: WallTime?
        public let lastSent: WallTime?

        /// - Parameter shared: for a grant, its own account and that of its token.
        fileprivate init(_ name: String, _ source: Source, _ shared: [Account.Shared], at now: WallTime) {
            self.name = name
            self.source = source
            isJudged =
                if case .store(let place) = source { place.space.authenticationMethod != .serverTrust } else { true }
            let accounts = shared.map(\.account)
            let standings = shared.map {
                $0.account.standing(now: now, ofOneServer: $0.version.isGrant || source.isPrincipal)
            }
            standing = standings.max { $0.state.rank < $1.state.rank } ?? Account().standing(now: now)
            since = accounts.map(\.since).filter { $0 > 0 }.min()
            lastSent = accounts.map(\.lastSent).filter { $0 > 0 }.max()
            let records = accounts.flatMap(\.records)
            reason = records.filter { $0.reason != nil }.max { $0.lastRefused < $1.lastRefused }?.reason
            servers = accounts.flatMap { account in
                account.judges.map { Server($0, standing: account.standing(at: $0.server, now: now)) }
            }
        }

        /// The subject of the latest refusal.
        public let reason: String?

        /// The sort key among entries of the same state.
        fileprivate var place: [String] {
            if case .store(let place) = source {
                ["1", place.space.host, "\(place.space.port)", name]
            } else {
                ["0", name]
            }
        }

        /// The remedy after which it is sent again at once, as a clause for operators; nil if there is no doubt about
        /// it.
        public var remedy: String? {
            standing.isTroubled ? CredentialRemedy(name, source).sentence(in: standing) : nil
        }
    }

    /// A credential of a store, without its value.
    public struct StoredPlace: Sendable {
        public let space: ProtectionSpace
        public let user: String
        /// The version; nil if it cannot be read.
        public let version: CredentialVersion?
        /// Whether it is the default, which answers its space's challenges.
        public let isDefault: Bool
        /// The last day on which it is valid, if known.
        public var lastDay: Day?

        public init(
            _ user: String, for space: ProtectionSpace, version: CredentialVersion?, isDefault: Bool,
            lastDay: Day? = nil
        ) {
            self.user = user
            self.space = space
            self.version = version
            self.isDefault = isDefault
            self.lastDay = lastDay
        }
    }
}

extension Account {
    /// The servers that have accepted or refused the version.
    fileprivate var judges: [Record] {
        records.filter { $0.isKnown || $0.takesTickets || $0.lastRefused > 0 || $0.pause != nil }
    }
}
