import Bytes
import Model
import Synchronization

/// The evidence of one server about one version of a credential. It connects answers to the version's account.
///
/// Requests on all loops share it. While the version is good at the server, an answer costs an atomic addition, and an
/// acceptance an atomic load.
public final class Evidence: Sendable {
    /// A request that the proxy itself makes to check a version.
    public struct Probe: Sendable {
        public let attempt: Evidence.Attempt
        public let credential: Credential
        public let sample: Account.Sample
        /// Kept with the verdict on the attempt when the request has ended.
        public let verdict = Promise<Account.Verdict>()

        public init(attempt: Evidence.Attempt, credential: Credential, sample: Account.Sample) {
            self.attempt = attempt
            self.credential = credential
            self.sample = sample
        }
    }

    /// The decision about a request that needs a version.
    public enum Admission: Sendable {
        case send(Attempt)
        /// The request waits for another one's verdict.
        case wait(Waiter)
        /// The request counts as refused, and the version is not sent.
        ///
        /// - Parameter nextTry: nil: with a request for another target, or when the value is set again.
        case refused(Account.Hold, nextTry: WallTime?)
    }

    /// The terms of a rule for a refused version.
    public struct RetryTerms: Sendable {
        /// The times between the tries of a paused version, the last one repeated; empty: no tries.
        public let retry: [Milliseconds]
        /// Whether the proxy may ask the server itself.
        public var mayProbe = true
        /// The request for probes, in place of one that was accepted.
        public var sample: Account.Sample?

        public init(retry: [Milliseconds]) { self.retry = retry }
    }

    /// The name of the server, see `Origin.serverName`.
    public let server: String
    let ledger: Account.Ledger
    private let targets = Evidence.AcceptedTargets()
    /// Whether the version is good here, so that an acceptance brings no news.
    let isSettled = Atomic(false)
    /// The number of acceptances, of which some become samples.
    private let acceptances = Atomic(0)
    /// The number of acceptances at the last `takeNews`.
    private let seenAcceptances = Atomic(0)

    init(_ ledger: Account.Ledger, at server: String) {
        self.ledger = ledger
        self.server = server
    }

    public var version: CredentialVersion { ledger.version }

    /// Whether requests send the version without asking.
    public var isGood: Bool { isSettled.load(ordering: .acquiring) }

    /// Counts an answer that is sent while the version is good.
    ///
    /// - Returns: its position in the order in which answers are sent.
    public func send() -> Int { ledger.nextPlace() }

    /// Whether the server has recently accepted the version for this target.
    public func hasAccepted(_ target: Span<UInt8>) -> Bool { targets.contains(target) }

    /// Notes that the server has accepted the version for this target.
    public func noteAccepted(_ target: Span<UInt8>) { targets.note(target) }

    /// Notes that the server has accepted a ticket obtained with the version.
    public func noteTicket(now: WallTime) { ledger.noteTicket(at: server, now: now) }

    /// Counts an acceptance.
    /// - Returns: whether to report it to the account: it brings news, or the request may become a sample. While the version
    ///   is good, those are the first, second, fourth, eighth and so on, and each 4,096th.
    public func countAcceptance() -> Bool {
        if !isSettled.load(ordering: .acquiring) { return true }
        let count = acceptances.add(1, ordering: .relaxed).oldValue
        return count & 4095 == 0 || count & (count &- 1) == 0
    }

    /// Whether there were acceptances since the last call.
    func takeNews() -> Bool {
        let count = acceptances.load(ordering: .relaxed)
        return seenAcceptances.exchange(count, ordering: .relaxed) != count
    }

    /// The hash of a target, of its path without the query.
    public static func hash(_ target: Span<UInt8>) -> UInt64 { Evidence.AcceptedTargets.hash(target) }

    /// Reports the server's verdict on an answer that `send` counted.
    ///
    /// - Parameters:
    ///   - place: the result of `send`.
    ///   - sample: the accepted request, if it can be repeated.
    ///   - client: the client whose request was judged; nil: the proxy's own request.
    public func judge(
        _ place: Int, _ verdict: Account.Verdict, at target: Span<UInt8>, sample: Account.Sample? = nil,
        by client: ClientIdentity? = nil, now: WallTime
    ) {
        let answer = Account.SentAnswer(
            id: 0, server: server, target: Evidence.AcceptedTargets.hash(target), role: .free, replica: ledger.replica,
            sent: place, knew: 0)
        ledger.judge(answer, verdict, sample: sample, because: nil, by: client, now: now)
    }

    /// Asks whether a request may send the version.
    ///
    /// - Parameter terms: the terms of its rule, evaluated only if the version is doubted.
    public func admit(
        _ target: Span<UInt8>, under terms: @autoclosure () -> RetryTerms, now: WallTime
    ) -> Admission {
        if isGood { return .send(Attempt(sentAt: send(), self, for: target)) }
        return ledger.admit(
            at: server, for: Evidence.AcceptedTargets.hash(target), wasAccepted: targets.contains(target),
            under: terms(), now: now)
    }

    /// A request that waits for the decision whether it sends a version.
    public final class Waiter: Sendable {
        let promise = Promise<Evidence.Admission>()
        let server: String
        private let id: Int
        private let ledger: Account.Ledger

        init(for id: Int, at server: String, in ledger: Account.Ledger) {
            self.id = id
            self.server = server
            self.ledger = ledger
        }

        /// The decision; nil if the wait ended, or if the credential has another value. Await it once.
        public func admission() async -> Evidence.Admission? {
            let admission = await promise.value()
            if admission == nil { ledger.giveUp(id) }
            return admission
        }

        /// Lets this request, or another waiting one, lead beside a leader that takes too long, if the account has
        /// room.
        public func hurry(now: WallTime) {
            if !promise.isOver { ledger.hurry(at: server, now: now) }
        }

        /// Ends the wait, from any thread; no effect if the decision is there.
        public func expire() {
            promise.expire()
            ledger.giveUp(id)
        }
    }

    /// An answer in flight, until the server's verdict. Dropping it reports `abandoned`.
    public final class Attempt: Sendable {
        public let evidence: Evidence
        let answer: Account.SentAnswer
        private let settled = Mutex<Account.Verdict?>(nil)

        init(_ answer: Account.SentAnswer, _ evidence: Evidence) {
            self.answer = answer
            self.evidence = evidence
        }

        /// Creates the attempt of an answer that was sent while the version was good.
        ///
        /// - Parameter place: the result of `Evidence.send`.
        public convenience init(sentAt place: Int, _ evidence: Evidence, for target: Span<UInt8>) {
            self.init(
                Account.SentAnswer(
                    id: 0, server: evidence.server, target: Evidence.AcceptedTargets.hash(target), role: .free,
                    replica: evidence.ledger.replica, sent: place, knew: 0), evidence)
        }

        /// Creates the attempt of a second answer with this version, sent while this one awaits its verdict. It counts
        /// in the same way.
        public func second() -> Evidence.Attempt {
            Evidence.Attempt(
                Account.SentAnswer(
                    id: 0, server: answer.server, target: answer.target, role: answer.role, replica: answer.replica,
                    sent: evidence.send(), knew: answer.knew), evidence)
        }

        deinit {
            if answer.role != .free { settle(.abandoned, now: evidence.ledger.latestEvent) }
        }

        public var version: CredentialVersion { evidence.version }

        /// Whether others wait for its verdict, or may do so.
        public var leads: Bool { answer.role != .free && verdict == nil }

        /// Lets another waiting request lead beside this one, whose client has left.
        public func handOver() {
            if leads { evidence.ledger.hurry(at: evidence.server, now: evidence.ledger.latestEvent) }
        }

        /// The server's verdict; nil: it is pending.
        public var verdict: Account.Verdict? { settled.withLock { $0 } }

        /// Reports the server's verdict. Only the first one counts.
        ///
        /// - Parameters:
        ///   - sample: the accepted request, if it can be repeated.
        ///   - reason: the reason of a refusal, for an operator.
        ///   - client: the client whose request was judged; nil: the proxy's own.
        public func settle(
            _ verdict: Account.Verdict, sample: @autoclosure () -> Account.Sample? = nil, because reason: String? = nil,
            by client: ClientIdentity? = nil, now: WallTime
        ) {
            let isFirst = settled.withLock { settled in
                defer { settled = settled ?? verdict }
                return settled == nil
            }
            guard isFirst else { return }
            // While the version is not doubted, only a refusal and some acceptances bring news.
            if answer.role == .free, verdict != .refused, !(verdict == .accepted && evidence.countAcceptance()) {
                return
            }
            evidence.ledger.judge(answer, verdict, sample: sample(), because: reason, by: client, now: now)
        }
    }

    /// The targets for which a server has accepted a version, as far as there is room.
    ///
    /// Each request with an answer is noted, so no lock is taken: it is a table of hashes in which later ones overwrite
    /// earlier ones. A forgotten target counts as one that was never accepted.
    final class AcceptedTargets: Sendable {
        private static let capacity = 128
        private let hashes = InlineArray<128, Atomic<UInt64>> { _ in Atomic(0) }

        func note(_ target: Span<UInt8>) {
            let hash = Self.hash(target)
            let index = Int(truncatingIfNeeded: hash % UInt64(Self.capacity))
            if hashes[index].load(ordering: .relaxed) != hash { hashes[index].store(hash, ordering: .relaxed) }
        }

        func contains(_ target: Span<UInt8>) -> Bool {
            let hash = Self.hash(target)
            return hashes[Int(truncatingIfNeeded: hash % UInt64(Self.capacity))].load(ordering: .relaxed) == hash
        }

        /// The hash of the path, without the query. It is equal in each process, since replicas share refused targets.
        static func hash(_ target: Span<UInt8>) -> UInt64 {
            let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
            return SpanHash.stable(target.extracting(first: end))
        }
    }
}

extension Origin {
    /// Creates the server with that name; nil for a name that `serverName` does not make.
    public init?(serverName: String) {
        let isProxy = serverName.hasPrefix("proxy ")
        let words = serverName.dropFirst(isProxy ? 6 : 0)
        let parts = words.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = parts.first.flatMap({ NetworkProtocol(rawValue: String($0)) }), let place = parts.last,
            place.hasPrefix("//"), let colon = place.lastIndex(of: ":"),
            let port = UInt16(place[place.index(after: colon)...])
        else { return nil }
        var host = place[..<colon].dropFirst(2)
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        self.init(host: String(host), port: port, protocol: kind, isProxy: isProxy)
    }

    /// The name of a server in accounts, such as `https://example.com:443`, or `proxy http://squid:3128`.
    public var serverName: String {
        let shown = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(isProxy ? "proxy " : "")\(self.protocol.rawValue)://\(shown):\(port)"
    }
}
