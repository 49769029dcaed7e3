import Bytes
import Model
import Synchronization

extension RuleSet {
    /// The latest rulings of one rule set, by query. A request to a known space then skips the rules that no index
    /// covers: patterns with `*` inside, blocks of addresses, and many realms or clients of one host or of any.
    ///
    /// It is bounded: a query replaces an earlier one in its slot, and a long query, which a server can make, gets no
    /// slot. A slot answers only the exact query that it was filled for.
    final class RulingCache: Sendable {
        /// The number of rules from which the cache is faster than checking them.
        static let worthwhile = 32
        /// The limit in bytes of a query's texts.
        private static let longest = 512
        private static let slots = 64

        private struct Entry {
            let query: ChallengeQuery
            let number: Int?
        }

        private final class Shard: Sendable {
            let entries = Mutex([Entry?](repeating: nil, count: RuleSet.RulingCache.slots))
        }

        private let shards = (0..<16).map { _ in Shard() }
        /// Whether any rule depends on the client, or on the day. If not, queries that differ only in that are one.
        private let asksClient: Bool
        private let asksDay: Bool

        init(_ rules: [Configuration.ChallengeRule]) {
            asksClient = rules.contains { $0.predicates.client.isSaid }
            asksDay = rules.contains { $0.predicates.until.isSaid }
        }

        /// The number of the rule that decides; nil if none.
        ///
        /// - Parameter find: asks the rules themselves.
        func number(for query: ChallengeQuery, else find: () -> Int?) -> Int? {
            let length = query.host.utf8.count + (query.realm?.utf8.count ?? 0) + (query.client.user?.utf8.count ?? 0)
            guard query.issuers.isEmpty, length <= Self.longest else { return find() }
            var key = query
            if !asksClient { key.client = Self.anyone }
            if !asksDay { key.today = nil }
            let hash = UInt(bitPattern: key.hashValue)
            let shard = shards[Int(hash / UInt(Self.slots) % UInt(shards.count))]
            let slot = Int(hash % UInt(Self.slots))
            let known = shard.entries.withLock { entries -> Int?? in
                entries[slot].flatMap { $0.query == key ? .some($0.number) : nil }
            }
            if let known { return known }
            let number = find()
            shard.entries.withLock { $0[slot] = Entry(query: key, number: number) }
            return number
        }

        private static let anyone = ClientIdentity(address: IPAddress(v4: 0))
    }
}
