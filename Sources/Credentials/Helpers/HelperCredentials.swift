import Authentication
import Bytes
import IO
import Synchronization

/// The values of credentials that programs give. They are read when a server first asks for them, once for all that wait.
final class HelperCredentials: Sendable {
    /// The place of a value: a credential, and the server if its helper is asked for each.
    struct Key: Hashable, Sendable {
        let name: ExactText
        let server: String?
        /// The path, if the helper is asked for each.
        var path: ExactText?
    }

    /// One reading of a value.
    struct Reading: Sendable {
        let credential: Credential
        /// The answer of a helper; nil for a value of `run`.
        var answer: HelperOutput.Answer?

        fileprivate var isForOneRequest: Bool { answer?.isForOneRequest ?? false }
    }

    /// A run of a program: one for all that wait, or one of a request alone.
    private struct Run: Hashable, Sendable {
        let key: HelperCredentials.Key
        /// 0 for all that wait.
        let number: Int
    }

    /// A value for one request, which the first of those that have waited takes.
    private final class OneValue: Sendable {
        let credential: Credential
        private let isTaken = Atomic(false)

        init(_ credential: Credential) { self.credential = credential }

        func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
    }

    private struct Entry {
        var reading: HelperCredentials.Reading?
        /// The time at which the value ends, and from which it is read again.
        var endsAt = WallTime.distantPast
        var renewsAt = WallTime.distantPast
        var error: CredentialError?
        /// The number of failures in a row.
        var failures = 0
        var pausedUntil = WallTime.distantPast
        /// The number of readings of a value that a server has refused, and the time of the last.
        var repetitions = 0
        var readAt = WallTime.distantPast
        var usedAt = WallTime.distantPast
        /// Whether the helper got `store` for the value, and `erase`.
        var isStored = false
        var isErased = false
        /// The change that was not adopted yet, and the failure that was not reported yet.
        var change: HelperQuestion.Change?
        var news: CredentialError?
    }

    private let entries = Mutex<[HelperCredentials.Key: Entry]>([:])
    /// All credentials share it, since its threads do not end: also those of rules that were loaded before.
    private static let pool = BlockingPool(threads: 4)
    private let work: CoalescedWork<HelperCredentials.Run, OneValue?>
    private let steps: CoalescedWork<HelperCredentials.Run, Result<HelperOutput.Answer, CredentialError>>
    private let runs = Atomic(0)
    private let patience: Milliseconds

    /// The pauses after failures in a row.
    private static let pauses: [Milliseconds] = [.seconds(5), .seconds(30), .minutes(5)]
    /// The number of readings of a refused value without a pause, and the pause after that.
    private static let (freeRepetitions, repetitionPause) = (3, Milliseconds.seconds(5))
    /// The limit of the servers of one credential.
    private static let mostServers = 64

    /// - Parameter time: the limit of one run.
    init(time: Milliseconds) {
        work = CoalescedWork(on: Self.pool)
        steps = CoalescedWork(on: Self.pool)
        // A user and a password may be a program each, and each may have to be killed.
        patience = time * 2 + .seconds(4)
    }

    /// Keeps the values of the same credentials of older rules.
    func keep(valuesOf older: HelperCredentials, where isSame: (ExactText) -> Bool) {
        let kept = older.entries.withLock { $0.filter { isSame($0.key.name) } }
        entries.withLock { $0 = kept }
    }

    /// The value; nil if it was not read yet, or has ended.
    func current(_ key: Key, at now: WallTime) -> Credential? {
        entries.withLock { entries in
            guard let entry = entries[key], now < entry.endsAt else { return nil }
            entries[key]?.usedAt = now
            return entry.reading?.credential
        }
    }

    /// The latest value, if it was for one request alone.
    func spent(_ key: Key) -> Credential? {
        entries.withLock { $0[key]?.reading.flatMap { $0.isForOneRequest ? $0.credential : nil } }
    }

    /// Whether the value is used and should be read before it ends.
    func isDue(_ key: Key, at now: WallTime) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[key], entry.reading != nil else { return false }
            return entry.renewsAt <= now && entry.pausedUntil <= now
        }
    }

    /// The reason why there is no value; nil: it was not read yet.
    func error(_ key: Key) -> CredentialError? { entries.withLock { $0[key]?.error } }

    /// Whether the program should run: there is no value, or it was refused, and no pause holds it.
    func wantsReading(_ key: Key, besides refused: CredentialVersion?, at now: WallTime) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[key] else { return true }
            if now < entry.pausedUntil { return false }
            guard let reading = entry.reading, now < entry.endsAt else { return true }
            guard reading.credential.version == refused else { return false }
            return entry.repetitions < Self.freeRepetitions || now >= entry.readAt + Self.repetitionPause
        }
    }

    /// Ends the pauses.
    func retry() {
        entries.withLock { entries in
            for key in entries.keys {
                entries[key]?.pausedUntil = .distantPast
                entries[key]?.failures = 0
                entries[key]?.repetitions = 0
            }
        }
    }

    /// Reads a value, once for all callers that wait. Await it on a loop.
    ///
    /// - Parameters:
    ///   - keep: the time for which the value is used; nil: as the helper says.
    ///   - refused: the value that a server has refused.
    ///   - read: runs the program.
    /// - Returns: the value, which may be a former one; nil if it takes too long.
    func read(
        _ key: Key, keep: Milliseconds?, besides refused: CredentialVersion?,
        _ read: @escaping @Sendable () -> Result<Reading, CredentialError>
    ) async -> Result<Credential, CredentialError>? {
        var run = Run(key: key, number: spent(key) == nil ? 0 : nextNumber())
        while true {
            let done = await work.run(run, within: patience) { [self] () -> OneValue? in
                // Others may have read it while this one waited for a thread.
                let now = SystemClock.wallTime
                guard wantsReading(key, besides: refused, at: now) || isDue(key, at: now) else { return nil }
                let result = read()
                take(result, for: key, keep: keep, besides: refused, at: SystemClock.wallTime)
                guard case .success(let reading) = result, reading.isForOneRequest else { return nil }
                return OneValue(reading.credential)
            }
            guard let done else { return nil }
            guard let one = done else { break }
            if one.take() { return .success(one.credential) }
            // The value is another request's: this one needs its own.
            run = Run(key: key, number: nextNumber())
        }
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            if let error = entry.error, refused == nil { return .failure(error) }
            return entry.reading.flatMap { $0.isForOneRequest ? nil : .success($0.credential) }
        }
    }

    private func nextNumber() -> Int { runs.add(1, ordering: .relaxed).newValue }

    /// Asks for the next answer of a login, for its request alone. A failure pauses the program as any other does.
    ///
    /// - Returns: nil if it takes too long.
    func next(
        _ key: Key, _ ask: @escaping @Sendable () -> Result<HelperOutput.Answer, CredentialError>
    ) async -> Result<HelperOutput.Answer, CredentialError>? {
        await steps.run(Run(key: key, number: nextNumber()), within: patience) { [self] in
            let result = ask()
            if case .failure(let error) = result {
                take(.failure(error), for: key, keep: nil, besides: nil, at: SystemClock.wallTime)
            }
            return result
        }
    }

    private func take(
        _ result: Result<Reading, CredentialError>, for key: Key, keep: Milliseconds?,
        besides refused: CredentialVersion?,
        at now: WallTime
    ) {
        entries.withLock { entries in
            if entries[key] == nil { Self.makeRoom(for: key, in: &entries) }
            var entry = entries[key] ?? Entry()
            defer { entries[key] = entry }
            entry.readAt = now
            switch result {
            case .failure(let error):
                entry.error = error
                entry.news = error
                entry.pausedUntil = now + Self.pauses[min(entry.failures, Self.pauses.count - 1)]
                entry.failures += 1
            case .success(let reading):
                entry.error = nil
                entry.failures = 0
                entry.pausedUntil = .distantPast
                let end = [keep.map { now + $0 }, reading.answer?.end, reading.credential.expiry]
                    .compactMap(\.self).min()
                // Other threads may have looked at the clock earlier.
                let isUsedOnce = reading.isForOneRequest || reading.answer?.isEphemeral == true
                entry.endsAt = isUsedOnce ? .distantPast : end ?? .distantFuture
                // As tokens are: at four fifths of their time.
                entry.renewsAt = end.map { now + max(0, $0 - now) / 5 * 4 } ?? .distantFuture
                let former = entry.reading?.credential.version
                if former == reading.credential.version {
                    if former == refused { entry.repetitions += 1 }
                    // Keeps the object that other code already refers to, and what the helper got.
                    entry.reading?.answer = reading.answer
                    return
                }
                entry.repetitions = 0
                (entry.isStored, entry.isErased) = (false, false)
                entry.change = former.map {
                    HelperQuestion.Change(version: reading.credential.version, former: $0, wasRefused: $0 == refused)
                }
                entry.reading = reading
            }
        }
    }

    private static func makeRoom(for key: Key, in entries: inout [Key: Entry]) {
        let own = entries.filter { $0.key.name == key.name }
        guard own.count >= mostServers, let oldest = own.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
        entries[oldest.key] = nil
    }

    /// Takes what the last reading has changed. Only the first call gets it.
    func takeNews(_ key: Key) -> (change: HelperQuestion.Change?, failure: CredentialError?) {
        entries.withLock { entries in
            defer {
                entries[key]?.change = nil
                entries[key]?.news = nil
            }
            return (entries[key]?.change, entries[key]?.news)
        }
    }

    /// Has the helper told of a verdict on the value, once. It is not awaited.
    ///
    /// - Parameters:
    ///   - own: the latest answer of a login in several steps, whose request the verdict is about; nil for others.
    ///   - tell: runs the program.
    func report(
        _ verdict: HelperVerdict, on version: CredentialVersion, _ key: Key, _ own: HelperOutput.Answer?,
        _ tell: @escaping @Sendable (HelperOutput.Answer) -> Void
    ) {
        if let own {
            if !own.isEphemeral { Self.pool.submit { tell(own) } }
            return
        }
        let answer = entries.withLock { entries -> HelperOutput.Answer? in
            guard let entry = entries[key], entry.reading?.credential.version == version,
                let answer = entry.reading?.answer, !answer.isEphemeral
            else { return nil }
            switch verdict {
            case .accepted:
                if entry.isStored { return nil }
                entries[key]?.isStored = true
            case .refused:
                if entry.isErased { return nil }
                entries[key]?.isErased = true
            }
            return answer
        }
        if let answer { Self.pool.submit { tell(answer) } }
    }
}

/// A server's verdict on a helper's value.
public enum HelperVerdict: Sendable {
    /// The server has accepted it.
    case accepted
    /// The server has refused it, and it is not sent again for now.
    case refused
}
