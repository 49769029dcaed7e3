extension Account {
    /// The account as the store has it, completed by what only this process knows: the servers that have accepted the version,
    /// and samples where the store has none.
    ///
    /// A process that has counted more refusals while the store was away goes on from those.
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
        for index in account.records.indices {
            account.records[index].samples = []
            account.records[index].fixedSample = nil
        }
        return account
    }

    /// Forgets what is held against the version. Where it was accepted stays known.
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

    /// A refusal as the program kept it before there were accounts.
    public struct EarlierRefusal: Sendable {
        public let server: String
        public let since: Int
        /// Nil: not before the value is set anew.
        public let nextTry: Int?
        /// Tries that were refused.
        public let retries: Int

        public init(at server: String, since: Int, nextTry: Int?, retries: Int) {
            self.server = server
            self.since = since
            self.nextTry = nextTry
            self.retries = retries
        }
    }

    /// The account of a version that was refused before there were accounts. A server that had accepted it tries it again at
    /// the time that was set, or in half a minute; one that never had in half an hour at the earliest.
    ///
    /// - Parameter servers: those that have accepted the version.
    public init(earlier refusals: [EarlierRefusal], acceptedBy servers: [String], at now: Int) {
        self.init()
        for server in servers { _ = learn(of: server) }
        if servers.isEmpty {
            unprovenRefusals = 2
            unprovenTry = now &+ Self.longSteps[0]
            number = 2
            return
        }
        for refusal in refusals {
            let isKnown = servers.contains(refusal.server)
            let earliest = now &+ (isKnown ? Self.shortSteps[0] : Self.longSteps[0])
            number &+= 1
            pause(
                refusal.server,
                Pause(
                    since: refusal.since, nextTry: max(refusal.nextTry ?? 0, earliest), step: max(0, refusal.retries),
                    number: number, replica: 0, sent: 0))
        }
    }

    /// Of several pauses of a server the last one to end counts.
    private mutating func pause(_ server: String, _ pause: Pause) {
        if !records.contains(where: { $0.server == server }) { records.append(Record(server)) }
        for index in records.indices where records[index].server == server {
            if let former = records[index].pause, former.nextTry >= pause.nextTry { continue }
            records[index].pause = pause
            if records[index].isKnown { firstPause = min(firstPause ?? .max, pause.since) }
        }
    }
}
