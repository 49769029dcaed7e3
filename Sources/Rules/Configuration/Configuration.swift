import Bytes

/// What the rule file says, with a default for all that it leaves out. `RuleSet` is its compiled form.
public struct Configuration: Sendable, Equatable {
    /// `listen`: where clients connect. Never empty.
    public var listeners = [Listener(Endpoint(IPAddress(v4: 0x7F00_0001), 3128))]
    /// `admin`: dashboard, metrics, health, practice origin. Nil: none.
    public var admin: Endpoint?
    public var threads = Threads.automatic
    /// `state`: the directory for what outlives a run. Nil: `$XDG_STATE_HOME/attache`, which the command line finds.
    public var state: String?
    public var authority = Authority()
    /// `store`; nil: what is to be kept is kept in memory.
    public var store: Store?
    public var log = Log()
    public var limits = Limits()
    public var timeouts = Timeouts()
    public var clients = Clients()
    public var egress = Egress()
    public var credentials: [Credential] = []
    public var parents: [Parent] = []
    public var routes: [Route] = []
    public var challenges: [Challenge] = []
    /// Environment variables that are named where a secret may stand.
    public var secretVariables: Set<String> = []

    public init() {}

    /// Event loops.
    public enum Threads: Sendable, Equatable {
        /// One for each core.
        case automatic
        case count(Int)
    }

    /// The credential of that name, or nil.
    public func credential(named name: String) -> Credential? {
        credentials.first { $0.name == name }
    }
}
