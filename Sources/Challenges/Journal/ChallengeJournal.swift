import Authentication
import Bytes
import Model
import Synchronization

/// The protection spaces that challenged, each with its last challenge, for operators. All loops share it. It is used
/// only for challenges, never for a known answer.
public final class ChallengeJournal: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    /// The limit of entries for one server, which may change its realm each time.
    private static let capacityOfOrigin = 32

    /// The limit of servers that clients reach by a tunnel, and that no rule names.
    private static let capacityOfTunnels = 200

    /// The tunnels to a server that no rule names.
    private struct Tunnels {
        let first: WallTime
        var last: WallTime
        var count = 1
    }

    private struct State {
        var records: [JournalEntry.Key: Record] = [:]
        /// Apart from the records, so that servers without a login displace no challenge.
        var tunnels: [Origin: Tunnels] = [:]
        /// The number of the last note.
        var number: UInt64 = 0

        mutating func put(_ record: Record) {
            number += 1
            if let former = records[record.entry.key]?.note, former !== record.note { former.end() }
            records[record.entry.key] = record
            records[record.entry.key]?.number = number
        }

        mutating func removeOldest(where condition: (JournalEntry.Key) -> Bool) {
            let oldest = records.values.filter { condition($0.entry.key) }.min { $0.age < $1.age }
            guard let oldest else { return }
            oldest.note?.end()
            records[oldest.entry.key] = nil
        }
    }

    private struct Record {
        var entry: JournalEntry
        /// The circumstances of the entry; nil for an answered one.
        var circumstances: JournalEntry.Circumstances?
        /// The counter of further answers; nil if none was given.
        var note: AnsweredEntry?
        var number: UInt64 = 0

        /// The entry with all counts.
        var current: JournalEntry {
            var current = entry
            note?.count(in: &current)
            return current
        }

        /// The age for ordering; a lower value was seen longer ago.
        var age: (time: WallTime, number: UInt64) { (current.last, number) }
    }

    /// - Parameter capacity: the limit of spaces; beyond it the one seen longest ago is dropped.
    public init(capacity: Int = 1000) { self.capacity = max(1, capacity) }

    /// Counts a repetition of the same event.
    ///
    /// - Returns: the first of the entries; nil if one of them is new, or was made under other circumstances.
    func repeated(
        _ keys: [JournalEntry.Key], under circumstances: JournalEntry.Circumstances, at now: WallTime
    ) -> JournalEntry? {
        state.withLock { state in
            let known = keys.compactMap { state.records[$0] }
            guard known.count == keys.count, known.allSatisfy({ $0.circumstances == circumstances }) else { return nil }
            for var record in known {
                record.entry.last = now
                record.entry.count += 1
                state.put(record)
            }
            return known.first?.entry
        }
    }

    /// - Parameters:
    ///   - circumstances: the circumstances of an unanswered challenge; nil if it was answered.
    ///   - note: the counter of further answers.
    /// - Returns: whether a space among them is news: it had no entry, and none of its server was dropped for it.
    @discardableResult
    func put(
        _ entries: [JournalEntry], under circumstances: JournalEntry.Circumstances? = nil,
        counting note: AnsweredEntry? = nil
    ) -> Bool {
        state.withLock { state in
            var isNews = false
            for var entry in entries {
                if let known = state.records[entry.key]?.current {
                    entry.first = known.first
                    entry.count += known.count
                } else if makeRoom(for: entry.key.space.origin, in: &state) {
                    isNews = true
                }
                state.put(Record(entry: entry, circumstances: circumstances, note: note))
            }
            return isNews
        }
    }

    /// Counts a tunnel that is not decrypted, to a server that no rule names.
    public func noteTunnel(to origin: Origin, at now: WallTime) {
        state.withLock { state in
            if let known = state.tunnels.index(forKey: origin) {
                state.tunnels.values[known].last = now
                state.tunnels.values[known].count += 1
                return
            }
            if state.tunnels.count >= Self.capacityOfTunnels,
                let oldest = state.tunnels.min(by: { $0.value.last < $1.value.last })
            {
                state.tunnels[oldest.key] = nil
            }
            state.tunnels[origin] = Tunnels(first: now, last: now)
        }
    }

    /// Adds a response to the entries for its challenges, if they still exist.
    public func note(_ response: ResponseExcerpt, for keys: [JournalEntry.Key], at now: WallTime) {
        state.withLock { state in for key in keys { state.records[key]?.entry.note(response, at: now) } }
    }

    /// Adds the metadata of a server to the lines that an entry suggests, if it still exists.
    ///
    /// - Parameter challenge: the challenge that announces the tokens.
    public func announce(_ metadata: ResourceMetadata, by challenge: HeaderChallenge, for key: JournalEntry.Key) {
        let scopes = metadata.scopes(for: challenge.text("scope"))
        state.withLock { $0.records[key]?.entry.announce(metadata, scopes: scopes) }
    }

    /// - Returns: whether there was room for another entry of that server.
    private func makeRoom(for origin: Origin, in state: inout State) -> Bool {
        let isFull = state.records.keys.count { $0.space.origin == origin } >= Self.capacityOfOrigin
        if isFull {
            state.removeOldest { $0.space.origin == origin }
        } else if state.records.count >= capacity {
            state.removeOldest { _ in true }
        }
        return !isFull
    }

    /// The entry that was seen last comes first. Tunnels to servers that no rule names come after all others.
    public var entries: [JournalEntry] {
        let (records, tunnels) = state.withLock { ($0.records.values.sorted { $0.age > $1.age }, $0.tunnels) }
        var entries = records.map(\.current)
        var answered: [Origin: [JournalEntry]] = [:]
        for entry in entries where entry.isAnswered { answered[entry.key.space.origin, default: []].append(entry) }
        for index in entries.indices where !answered.isEmpty && !entries[index].isAnswered {
            let entry = entries[index]
            let later = answered[entry.key.space.origin]?.filter { $0.last > entry.last && $0.proves(entry) }
            entries[index].solved = later?.map(\.last).min()
        }
        let known = tunnels.isEmpty ? [] : Set(entries.map(\.key.space.origin))
        let others = tunnels.filter { !known.contains($0.key) }
        return entries + others.sorted { $0.value.last > $1.value.last }.map { Self.entry($0.key, $0.value) }
    }

    private static func entry(_ origin: Origin, _ tunnels: Tunnels) -> JournalEntry {
        let space = ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .default)
        var entry = JournalEntry(JournalEntry.Key(space, scheme: ""), .tunnelled, at: tunnels.last)
        entry.reason = JournalText.printable(
            "no route decrypts the tunnel to \(origin.authority), and no rule names this server", longest: 512)
        entry.isConcerned = false
        (entry.first, entry.count) = (tunnels.first, tunnels.count)
        return entry
    }

    /// The names that the suggestions of other entries give.
    func suggestedNames(besides keys: [JournalEntry.Key]) -> JournalEntry.SuggestedNames {
        state.withLock { state in
            var names = JournalEntry.SuggestedNames()
            for record in state.records.values where !keys.contains(record.entry.key) {
                names.add(record.entry.suggestedNames)
            }
            return names
        }
    }
}

extension JournalEntry {
    /// Whether this answer shows that what another entry of the same server is about works now: the same realm, or the
    /// connection to the server, which comes before any realm.
    fileprivate func proves(_ other: JournalEntry) -> Bool {
        let methods: Set<AuthenticationMethod> = [.serverTrust, .clientCertificate]
        if other.outcome == .unseen { return true }
        let mine = key.space.authenticationMethod
        if methods.contains(other.key.space.authenticationMethod) { return !methods.contains(mine) }
        return !methods.contains(mine) && (key.space.realm == other.key.space.realm || other.cameWith(key))
    }

    /// Whether the response of this challenge had the other one too. Negotiate and NTLM have no realm, so that the realm
    /// does not show it.
    private func cameWith(_ other: Key) -> Bool {
        var parser = ChallengeParser()
        for line in lines { parser.parse(Array(line.utf8).span) }
        return parser.challenges.contains { $0.scheme == other.scheme && $0.realm == other.space.realm }
    }
}
