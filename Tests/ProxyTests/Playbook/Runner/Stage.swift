import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import Foundation
import IO
import Model
import Rules
import Synchronization
import Telemetry
import TestNetwork

@testable import Proxy
@testable import Upstream

/// A proxy with its clients, its servers and its time. Belongs to the thread that plays.
final class Stage {
    let loop: EventLoop
    var variables = Variables()
    /// The server that got the last request.
    var lastAsked: Int?
    private let clock: ManualClock
    private let network: PlayedNetwork
    private let worker: Worker
    private let shared: SharedState
    private let told: Told
    private let folder: String
    let log: PlayedLog
    private var policy: ServicePolicy
    private var clients: [Int: PlayedEnd] = [:]
    /// The servers, in the order in which the conversation names them.
    private var servers: [PlayedDial] = []
    private var namedEndsOfDials: Set<Int> = []

    /// The messages of the proxy to its operator, from any thread.
    private final class Told: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// 2026-01-01T00:00:00Z.
    private static let start: WallTime = 1_767_225_600_000
    /// Milliseconds that work on other threads may take.
    private static let patience: Milliseconds = 20_000

    /// RFC 9421 appendix B.1.4, `test-key-ed25519`.
    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
        -----END PRIVATE KEY-----

        """

    /// - Parameter files: contents by name.
    init(_ rules: String, files: [String: String]) throws {
        clock = ManualClock(start: Self.start)
        loop = try EventLoop(index: 0, clock: clock)
        network = PlayedNetwork(on: loop)
        folder = FileManager.default.temporaryDirectory.path + "/play.\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, content) in files {
            try content.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        if rules.contains("FILES/ed25519.pem") {
            try Self.ed25519.write(toFile: "\(folder)/ed25519.pem", atomically: true, encoding: .utf8)
        }
        if rules.contains("FILES/ca.pem") {
            try PlayedTLS.anchor().write(toFile: "\(folder)/ca.pem", atomically: true, encoding: .utf8)
            try PlayedTLS.writeIdentities(to: folder)
        }
        let told = Told()
        self.told = told
        shared = SharedState(storage: StoredCredentials()) { line in told.lines.withLock { $0.append(line) } }
        let counting = ClientCount(ClientCount.Limits(clients: 1000, perAddress: 1000), loops: 1) { line in
            told.lines.withLock { $0.append(line) }
        }
        log = try PlayedLog(in: folder)
        policy = try PlayedRules.policy(rules, files: folder, log: log.log)
        worker = Worker(
            policy: policy, shared: shared, on: loop, in: network,
            room: Worker.Room(clients: counting, arrivals: 8, idle: 100))
        let bound = LoopBound(worker, to: loop)
        counting.connect([bound])
        shared.onRetirement { retirement in bound.loop.submit { bound.value.retire(retirement) } }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: - Time

    /// Lets the proxy do all that it has to do.
    func settle() throws {
        while true {
            guard loop.runUntilIdle(within: Self.patience) else {
                throw Performance.Failure(sentence: "work on another thread does not come to an end")
            }
            let ends = clients.values + servers.compactMap(\.end) + network.dials.compactMap(\.end)
            // Each is to be asked, not only the first that has something.
            if ends.count(where: { $0.pump() }) == 0 { return }
        }
    }

    /// Advances the clock from one deadline to the next, because each may set another.
    func pass(_ milliseconds: Int) throws {
        var rest = Milliseconds(milliseconds)
        try settle()
        while rest > 0 {
            let step = min(rest, max(1, loop.timeToNextDeadline ?? rest))
            clock.advance(by: step)
            rest = rest - step
            try settle()
        }
    }

    /// Advances the clock at once: the proxy finds all that has happened meanwhile.
    func skip(_ milliseconds: Int) { clock.advance(by: Milliseconds(milliseconds)) }

    // MARK: - Operators

    func reload(_ rules: String) throws {
        policy = try PlayedRules.policy(rules, files: folder, log: log.log)
        worker.adopt(policy)
    }

    func refresh() { shared.adopt(policy.exchanges.credentials.refresh()) }

    func write(_ content: String, to name: String) throws {
        try content.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    /// - Parameter words: the question's number, `use NAME`, `user NAME PASSWORD`, `trust`, `reject` or `cancel`, and perhaps
    ///   how long it holds.
    func answer(_ words: String) throws {
        let words = words.split(separator: " ").map(String.init)
        guard words.count > 1, let id = Int(words[0]) else {
            throw Performance.Failure(sentence: "answer NUMBER WORDS")
        }
        let (challenges, day) = (shared.challenges, Day(of: SystemClock.wallTime))
        if words[1] == "forget" {
            return try perform { () async throws(OperatorAnswer.Failure) in
                try await challenges.forgetAnswer(id, on: day, by: .command(user: 0))
            }
        }
        let persistence = words.last.flatMap(Persistence.init(rawValue:))
        let name = words.count > 2 ? words[2] : ""
        let act: OperatorAnswer.Act
        switch words[1] {
        case "use": act = .use(name)
        case "user":
            var password = Array((words.count > 3 ? words[3] : "").utf8)
            act = .password(user: name, Secret(wiping: &password))
        case "trust": act = .trust
        case "reject": act = .reject
        case "cancel": act = .cancel
        default: throw Performance.Failure(sentence: "no answer begins with “\(words[1])”")
        }
        let answer = OperatorAnswer(act, persistence: persistence ?? .session)
        try perform { () async throws(OperatorAnswer.Failure) in
            try await challenges.answer(id, with: answer, until: day, by: .command(user: 0))
        }
    }

    /// An operator does something, at once.
    private func perform(_ deed: @escaping @Sendable () async throws(OperatorAnswer.Failure) -> Void) throws {
        let failure = Mutex<String?>("that was not done")
        loop.spawn {
            do throws(OperatorAnswer.Failure) {
                try await deed()
                failure.withLock { $0 = nil }
            } catch { failure.withLock { $0 = "\(error)" } }
        }
        try settle()
        if let sentence = failure.withLock({ $0 }) { throw Performance.Failure(sentence: sentence) }
    }

    var reports: [String] { told.lines.withLock { $0 } }

    /// - Parameter text: the line, or "nothing": there is none that no step has named.
    func requireReport(_ text: String) throws {
        if text == "nothing" {
            guard told.lines.withLock({ $0.isEmpty }) else {
                throw Performance.Failure(sentence: "something was reported")
            }
            return
        }
        let isThere = told.lines.withLock { lines in
            guard let place = lines.firstIndex(where: { variables.match(text, $0) }) else { return false }
            lines.remove(at: place)
            return true
        }
        if !isThere { throw Performance.Failure(sentence: "that was not reported") }
    }

    func requireMetric(_ line: String) throws {
        var page = MetricsPage([worker.metrics])
        page.set(worker.upstreams.shared.challenges.questions.figures)
        page.set(
            shared.parents.states(
                of: policy.exchanges.rules.configuration.parents.flatMap { group in
                    group.servers.map { ParentName(group.name, of: $0) }
                }, foundBy: []))
        let lines = page.text(as: .prometheus).split(separator: "\n")
        if lines.contains(where: { $0 == line }) { return }
        let series = line.prefix { $0 != " " }
        let found = lines.first { $0.hasPrefix("\(series) ") } ?? "no such metric"
        throw Performance.Failure(sentence: "the metrics say \(found)")
    }

    /// - Parameter text: members of an entry of the journal.
    func requireEntry(_ text: MembersText) throws {
        try require(text, among: shared.challenges.challenges.map { PlayedJournal.members(of: $0) })
    }

    /// - Parameter text: members of an open question.
    func requireQuestion(_ text: MembersText) throws {
        try require(text, among: shared.challenges.questions.open.map { PlayedJournal.members(of: $0) })
    }

    private func require(_ text: MembersText, among all: [[String: String]]) throws {
        var differences: [String] = []
        for members in all {
            var filled = variables
            guard let difference = text.difference(from: members, &filled) else {
                variables = filled
                return
            }
            differences.append("\n    not \(members): \(difference)")
        }
        throw Performance.Failure(sentence: "there is none such\(differences.joined())")
    }

    // MARK: - Records

    /// The lines of the access log that no step has named.
    var records: [Substring] {
        readLog()
        return log.unnamed
    }

    func requireRecord(_ text: MembersText) throws {
        readLog()
        if let difference = log.nameNext(text, &variables) { throw Performance.Failure(sentence: difference) }
    }

    func requireNoRecord() throws {
        if !records.isEmpty { throw Performance.Failure(sentence: "there are other lines in the log") }
    }

    func requireBalancedLog() throws {
        readLog()
        if let imbalance = log.imbalance { throw Performance.Failure(sentence: imbalance) }
    }

    private func readLog() {
        worker.flushLog()
        log.read()
    }

    // MARK: - Parties

    /// The listener that the rules name first.
    private var listener: ClientListener {
        let settings = worker.policy.exchanges.rules.configuration.listeners.first
        return ClientListener(
            .network(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 3128)), user: settings?.client,
            protocols: settings.map { ClientListener.Protocols($0) } ?? [])
    }

    /// - Parameter isNew: whether a client may connect.
    func end(of party: Script.Party, isNew: Bool) throws -> PlayedEnd {
        switch party {
        case .client(let number):
            if let known = clients[number], !known.isClosed || !isNew { return known }
            guard isNew else { throw Performance.Failure(sentence: "there is no \(party)") }
            let (socket, end) = try PlayedEnd.pair(on: loop)
            let address = IPAddress(v4: 0x7F00_0001)
            _ = worker.clients.enter(address, on: 0)
            worker.begin(socket, from: ClientListener.Peer(address: address), at: listener)
            clients[number] = end
            return end
        case .server(let number):
            guard servers.indices.contains(number - 1), let end = servers[number - 1].end else {
                throw Performance.Failure(sentence: "there is no connection to \(party)")
            }
            return end
        }
    }

    /// The one party of its kind to which something has come.
    func receiver(isClient: Bool) throws -> Script.Party {
        let parties: [Script.Party] =
            isClient
            ? clients.filter { !$1.incoming.isEmpty }.map { .client($0.key) }
            : servers.indices.filter { servers[$0].end?.incoming.isEmpty == false }.map { .server($0 + 1) }
        guard let party = parties.first, parties.count == 1 else {
            throw Performance.Failure(
                sentence: parties.isEmpty ? "nothing has come" : "something has come to several: name one")
        }
        return party
    }

    func answerDial(to place: String, _ outcome: PlayedDial.Outcome?) throws {
        guard let number = network.dials.firstIndex(where: { $0.place == place }) else {
            throw Performance.Failure(sentence: "the proxy makes no such connection")
        }
        let dial = network.dials.remove(at: number)
        servers.append(dial)
        if let outcome { dial.settle(outcome) }
        try settle()
    }

    func settleDial(of party: Script.Party, _ outcome: PlayedDial.Outcome) throws {
        guard case .server(let number) = party, servers.indices.contains(number - 1) else {
            throw Performance.Failure(sentence: "there is no \(party)")
        }
        servers[number - 1].settle(outcome)
        try settle()
    }

    /// Takes note that the proxy gave up a connection that was never made.
    func nameEndOfDial(of party: Script.Party) throws -> Bool {
        guard case .server(let number) = party, servers.indices.contains(number - 1) else { return false }
        let dial = servers[number - 1]
        guard dial.end == nil else { return false }
        guard dial.isOver else { throw Performance.Failure(sentence: "the proxy still waits for the connection") }
        namedEndsOfDials.insert(number - 1)
        return true
    }

    // MARK: - Unnamed

    private var ends: [(Script.Party, PlayedEnd)] {
        clients.sorted { $0.key < $1.key }.map { (.client($0.key), $0.value) }
            + servers.enumerated().compactMap { place, dial in dial.end.map { (.server(place + 1), $0) } }
    }

    /// All that the proxy did and no step names.
    var unnamed: [String] {
        var found = network.dials.map { "connect \($0.place)" }
        for (party, end) in ends where !end.isClosed {
            if !end.incoming.isEmpty {
                found.append("\(party) << \(String(decoding: end.incoming.prefix(3000), as: UTF8.self))")
            }
            if end.end != end.namedEnd { found.append("\(party) << \(end.end == .all ? "close" : "end")") }
        }
        return found
    }

    func requireNothingUnnamed() throws {
        if !unnamed.isEmpty { throw Performance.Failure(sentence: "the proxy has done more") }
    }

    /// All leave, and within a minute the proxy keeps none of its sessions.
    func leave() throws {
        for client in clients.values { client.close() }
        try settle()
        for server in servers { server.end?.close() }
        try settle()
        if openSessions > 0 { try pass(60_000) }
        if openSessions > 0 {
            throw Performance.Failure(sentence: "\(openSessions) sessions outlive their clients and servers")
        }
    }

    private var openSessions: Int {
        worker.metrics.value(of: .clientsAccepted) - worker.metrics.value(of: .clientsClosed)
    }
}
