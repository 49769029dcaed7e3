import Bytes
import Model

extension Account {
    /// A change of a version's state, for the log.
    public struct Change: Sendable {
        public enum Kind: Sendable {
            /// A server refused the version. Requests still send it, or make the server be asked.
            case refused
            /// The version is not sent until the next try.
            ///
            /// - Parameter isFirst: whether it was sent until now.
            case onHold(isFirst: Bool)
            /// The version is sent again.
            case lifted
        }

        public let kind: Kind
        public let version: CredentialVersion
        /// The server that caused the change; nil: none did, or it is not known.
        public let server: String?
        public let standing: Account.Standing
        /// The reason of the latest refusal.
        public let reason: String?
        /// Whether the credential is a certificate.
        public let isIdentity: Bool
        /// Whether an answer of this process caused the change. Then this process logs it; other processes log their
        /// own.
        public let isOurs: Bool
        /// The client whose request caused the change; nil if none did, or if the request was the proxy's own.
        public let client: ClientIdentity?
        /// The time.
        public let time: WallTime
    }
}

extension Account.Ledger {
    /// The holds on a version that were logged, so that each change is logged once.
    struct ToldHolds: Sendable {
        /// The next tries by server; `overall` is for all.
        private var nextTries: [String: Account.NextTry] = [:]

        private static let overall = ""

        /// A change of the account that is to be logged.
        struct Found {
            let kind: Account.Change.Kind
            let server: String?
            let standing: Account.Standing
        }

        /// - Parameters:
        ///   - before: the former account.
        ///   - isOfOne: as in `Account.standing`.
        mutating func changes(
            from before: Account, to after: Account, ofOneServer isOfOne: Bool, now: WallTime
        ) -> [Found] {
            if !after.isTroubled, nextTries.isEmpty { return [] }
            var found: [Found] = []
            for record in after.records {
                let standing = after.standing(at: record.server, now: now)
                if let pause = record.pause {
                    // The try may be made later, since all servers share the account's room. A delay is not logged each
                    // time.
                    hold(record.server, standing, until: .time(pause.nextTry), of: record.server, &found)
                } else if record.refusedTargets.contains(Account.soleTarget), after.isProven {
                    hold(record.server, standing, until: .time(record.unknownTry), of: record.server, &found)
                } else if nextTries.removeValue(forKey: record.server) != nil {
                    found.append(Found(kind: .lifted, server: record.server, standing: standing))
                }
            }
            let refusing = after.records.filter { $0.lastRefused > 0 }
            let news = refusing.filter { before.record(of: $0.server)?.lastRefused != $0.lastRefused }
            let latest = (news.isEmpty ? refusing : news).max { $0.lastRefused < $1.lastRefused }?.server
            let overall = after.standing(now: now, ofOneServer: isOfOne)
            let held = after.records.lazy.map { after.standing(at: $0.server, now: now) }.first {
                $0.state == .held && $0.isOnHold
            }
            if let standing = overall.state == .unproven && overall.isOnHold ? overall : held {
                hold(Self.overall, standing, until: standing.nextTry, of: latest, &found)
            } else if after.slots.isEmpty || after.isProven && !before.isProven,
                nextTries.removeValue(forKey: Self.overall) != nil
            {
                found.append(Found(kind: .lifted, server: nil, standing: overall))
            }
            let isRefused = after.slots.last.map { last in !before.slots.contains { $0.id == last.id } } ?? false
            if isRefused, !found.contains(where: { $0.standing.isOnHold }) {
                let standing = latest.map { after.standing(at: $0, now: now) } ?? overall
                found.append(Found(kind: .refused, server: latest, standing: standing))
            }
            return found
        }

        private mutating func hold(
            _ key: String, _ standing: Account.Standing, until nextTry: Account.NextTry, of server: String?,
            _ found: inout [Found]
        ) {
            let former = nextTries.updateValue(nextTry, forKey: key)
            if former == nextTry { return }
            found.append(Found(kind: .onHold(isFirst: former == nil), server: server, standing: standing))
        }
    }
}
