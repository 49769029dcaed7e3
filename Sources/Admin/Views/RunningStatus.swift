import Authentication
import Bytes
import Challenges
import Credentials
import Model
import Telemetry

/// The state of a running proxy, for its operator.
public struct RunningStatus: Sendable {
    /// The current rule file.
    public struct Rules: Sendable {
        public let path: String
        /// The time of loading.
        public let loaded: WallTime
        public let routes: Int
        public let challenges: Int
        public let credentials: Int
        public let parents: Int

        public init(path: String, loaded: WallTime, routes: Int, challenges: Int, credentials: Int, parents: Int) {
            self.path = path
            self.loaded = loaded
            self.routes = routes
            self.challenges = challenges
            self.credentials = credentials
            self.parents = parents
        }
    }

    /// A rule file that was rejected after the current one.
    public typealias Rejection = (time: WallTime, reason: String)

    /// The program, with the id of its process and the time of its start.
    public typealias Program = (version: String, process: Int, started: WallTime)

    /// The addresses for clients and operators.
    public typealias Addresses = (listeners: [String], admin: String?)

    /// A store, with the reason why its changes cannot be followed.
    public typealias Store = (place: String, problem: String?)

    public let program: Program
    public let addresses: Addresses
    public let rules: Rules
    public let rejection: Rejection?
    /// The credential store; nil if none.
    public let store: Store?
    /// The current client connections.
    public let clients: Int
    public var parents: [ParentState] = []
    /// Certificates, tokens, tickets and exceptions with a known expiry, soonest first.
    public var expiries: [Expiry] = []
    /// The weak logins and old TLS still in use, most recent first.
    public var dated: [WeakUse] = []

    public init(
        program: Program, addresses: Addresses, rules: Rules, rejection: Rejection?, store: Store?, clients: Int
    ) {
        self.program = program
        self.addresses = addresses
        self.rules = rules
        self.rejection = rejection
        self.store = store
        self.clients = clients
    }

    /// The matters that wait for an operator.
    struct Waiting {
        /// The number of spaces with unanswered challenges.
        let unanswered: Int
        let credentials: CredentialList
        /// The number of challenges for which requests wait.
        let questions: Int
    }

    func lines(_ waiting: Waiting) -> String {
        var lines = [
            "attache \(program.version), process \(program.process), running since \(AdminTime.text(program.started))"
        ]
        lines += addresses.listeners.map { "listening on \($0)" }
        if let admin = addresses.admin { lines.append("the admin listener is on \(admin)") }
        let counts = [
            (rules.routes, "route"), (rules.challenges, "challenge rule"), (rules.credentials, "credential"),
            (rules.parents, "parent"),
        ].map { Self.count($0, $1) }.joined(separator: ", ")
        lines.append("rules: \(rules.path), loaded \(AdminTime.text(rules.loaded)); \(counts)")
        if let rejection {
            lines.append("  a newer rule file was rejected \(AdminTime.text(rejection.time)): \(rejection.reason)")
        }
        lines.append("store: \(store?.place ?? "none")\(store?.problem.map { "; \($0)" } ?? "")")
        lines.append("clients: \(clients) connected")
        if !parents.isEmpty { lines += ["parents:"] + parents.map { "  \($0.words)" } }
        if waiting.questions > 0 {
            lines.append("questions: \(Self.count(waiting.questions, "challenge")) for an operator, see 'attache ask'")
        }
        if waiting.unanswered > 0 {
            lines.append(
                "challenges: \(Self.count(waiting.unanswered, "space")) unanswered, see 'attache challenges --unanswered'"
            )
        }
        let states = waiting.credentials.states
        if !states.isEmpty {
            let words = states.map { "\($0.count) \($0.state)" }.joined(separator: ", ")
            lines.append("credentials: \(words), see 'attache credential list'")
        }
        let ends = expiries.prefix(Self.shown)
        if !ends.isEmpty { lines += ["next expiries:"] + ends.map { "  \($0.words)" } }
        let uses = dated.prefix(Self.shown)
        if !uses.isEmpty { lines += ["weak logins in use:"] + uses.map { "  \($0.words)" } }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The limits of items shown from a long list, for people and in JSON.
    private static let (shown, longest) = (10, 200)

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    func json(_ waiting: Waiting) -> String {
        JSONText.document { json in
            write(to: &json, waiting)
            json.array(StatusField.parentServers) { json in for parent in parents { parent.write(to: &json) } }
            json.array(StatusField.expiries) { json in
                for expiry in expiries.prefix(Self.longest) { expiry.write(to: &json) }
            }
            json.array(StatusField.weakLogins) { json in for use in dated { use.write(to: &json) } }
        }
    }

    /// Writes the members of an object: all but the parents, whose figures change all the time.
    func write(to json: inout JSONText, _ waiting: Waiting) {
        json.member(StatusField.version, JSONFormat.version)
        json.member(StatusField.programVersion, program.version)
        json.member(StatusField.process, program.process)
        json.member(StatusField.started, time: program.started)
        json.member(StatusField.listeners, addresses.listeners)
        json.member(StatusField.admin, addresses.admin)
        json.member(StatusField.ruleFile, rules.path)
        json.member(StatusField.rulesLoaded, time: rules.loaded)
        json.member(StatusField.routes, rules.routes)
        json.member(StatusField.challengeRules, rules.challenges)
        json.member(StatusField.credentials, rules.credentials)
        json.member(StatusField.parents, rules.parents)
        json.member(StatusField.rejected, time: rejection?.time)
        json.member(StatusField.rejectedBecause, rejection?.reason)
        json.member(StatusField.store, store?.place)
        json.member(StatusField.storeProblem, store?.problem)
        json.member(StatusField.clients, clients)
        json.member(StatusField.questions, waiting.questions)
        json.member(StatusField.unanswered, waiting.unanswered)
        json.member(StatusField.parked, waiting.credentials.heldCount)
        json.object(StatusField.credentialStates) { json in
            for (state, count) in waiting.credentials.states { json.member(state.rawValue, count) }
        }
    }
}

/// The reloads that commands request. A reload happens elsewhere and takes time.
public protocol ReloadControl: Sendable {
    /// Requests a reload.
    ///
    /// - Parameter retries: whether every refused credential may be sent again afterwards.
    /// - Returns: the number of the reload.
    func request(by actor: AuditEvent.Actor, retrying retries: Bool) -> Int

    /// The result of the reload with that number, or of a later one; nil: it is not finished.
    func outcome(of number: Int) -> ReloadOutcome?
}

public enum ReloadOutcome: Sendable, Equatable {
    /// - Parameter lifted: the number of refusals that were lifted; nil: that was not requested.
    case reloaded(lifted: Int?)
    /// The current rules stay in use.
    case rejected(reason: String)
}
