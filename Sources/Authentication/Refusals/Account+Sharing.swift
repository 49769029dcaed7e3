import Bytes

extension Account {
    /// The store's account, completed by the knowledge of this process: the servers that have accepted the version, and
    /// samples if the store has none.
    ///
    /// If this process counted more refusals while the store was unavailable, its own account is used.
    public func completed(by own: Account) -> Account {
        var (account, other) = own.number > number ? (own, self) : (self, own)
        account.since = [account.since, other.since].filter { $0 > 0 }.min() ?? 0
        account.lastSent = max(account.lastSent, other.lastSent)
        other.records.removeAll { !$0.isKnown && !$0.takesTickets }
        for record in other.records {
            if record.isKnown { _ = account.learn(of: record.server) }
            if record.takesTickets { _ = account.learnOfTickets(at: record.server) }
            guard let index = account.records.firstIndex(where: { $0.server == record.server }) else { continue }
            if account.records[index].samples.isEmpty { account.records[index].samples = record.samples }
            account.records[index].lastAccepted = max(account.records[index].lastAccepted, record.lastAccepted)
        }
        return account
    }

    /// The account for lists, without what probes need.
    public var withoutSamples: Account {
        var account = self
        account.changeRecords { ($0.samples, $0.fixedSample) = ([], nil) }
        return account
    }

    mutating func changeRecords(_ change: (inout Record) -> Void) {
        for index in records.indices { change(&records[index]) }
    }

    /// Clears all doubts about the version. The servers that accepted it stay known.
    public mutating func reset() {
        slots = []
        firstPause = nil
        unprovenRefusals = 0
        unprovenPlace = nil
        for index in records.indices {
            records[index].pause = nil
            records[index].doubt = nil
            records[index].reason = nil
            records[index].refusedTargets = []
            records[index].indecisions = 0
            records[index].mayAskOpenly = false
        }
    }

    /// A refusal in the format that preceded accounts.
    public struct EarlierRefusal: Sendable {
        public let server: String
        public let since: WallTime
        /// The time of the next try; nil: not until the value is set again.
        public let nextTry: WallTime?
        /// The number of refused tries.
        public let retries: Int

        public init(at server: String, since: WallTime, nextTry: WallTime?, retries: Int) {
            self.server = server
            self.since = since
            self.nextTry = nextTry
            self.retries = retries
        }
    }

    /// Creates the account of a version from refusals in the older format. A server that had accepted the version tries
    /// it again at the stored time, or in half a minute. Another server tries it in half an hour at the earliest.
    ///
    /// - Parameter servers: the servers that have accepted the version.
    public init(earlier refusals: [EarlierRefusal], acceptedBy servers: [String], at now: WallTime) {
        self.init()
        for server in servers { _ = learn(of: server) }
        if servers.isEmpty {
            unprovenRefusals = 2
            unprovenTry = now + Self.longSteps[0]
            number = 2
            return
        }
        for refusal in refusals {
            let isKnown = servers.contains(refusal.server)
            let earliest = now + (isKnown ? Self.shortSteps[0] : Self.longSteps[0])
            number &+= 1
            pause(
                refusal.server,
                Pause(
                    since: refusal.since, nextTry: max(refusal.nextTry ?? 0, earliest), step: max(0, refusal.retries),
                    number: number, replica: 0, sent: 0))
        }
    }

    /// Pauses the version at a server. Of several pauses the last one to end counts.
    private mutating func pause(_ server: String, _ pause: Pause) {
        if !records.contains(where: { $0.server == server }) { records.append(Record(server)) }
        for index in records.indices where records[index].server == server {
            if let former = records[index].pause, former.nextTry >= pause.nextTry { continue }
            records[index].pause = pause
            if records[index].isKnown { firstPause = min(firstPause ?? .distantFuture, pause.since) }
        }
    }
}
