import Bytes
import IO

/// The objects that all measures share: the machine's loops, the origin, the contestants' files.
final class Setting {
    let options: Options
    let workspace: Workspace
    let loop: EventLoop
    let origin = Origin()
    let originPort: UInt16
    /// The setting for TLS, made when first used.
    private var secureSetting: SecureSetting?
    let foreignLoad = ForeignLoad()
    /// Programs to compare with that are not there: a sentence each.
    private(set) var missing: [String] = []
    let hasHAProxy: Bool

    init(_ options: Options, on loop: EventLoop, originLoop: EventLoop) throws(BenchError) {
        self.options = options
        self.loop = loop
        workspace = try Workspace()
        hasHAProxy = Workspace.size(of: options.haproxy) != nil
        if !hasHAProxy { missing = ["HAProxy is not installed: there is no \(options.haproxy)"] }
        do throws(IOError) { originPort = try origin.listen(on: originLoop) } catch { throw .connection(error) }
    }

    /// Nil where HAProxy is not installed, which fails the run.
    var plainHAProxy: Contestant? {
        hasHAProxy ? HAProxyContestant.forward(options.haproxy, origin: originPort) : nil
    }

    /// Has the run fail, with a sentence: a program to compare with is not there.
    func miss(_ sentence: String) {
        if !missing.contains(sentence) { missing.append(sentence) }
    }

    /// Lets the loop do what else it has to do.
    func pause(milliseconds: Int) async throws(BenchError) {
        let wakeup = Wakeup()
        let alarm = Alarm(on: loop) { wakeup.signal() }
        alarm.set(after: Milliseconds(milliseconds))
        // Else nothing would keep the alarm until it rings.
        defer { alarm.cancel() }
        await wakeup.wait()
    }

    func start(_ contestant: Contestant, with instrument: Contestant.Instrument = .none)
        throws(BenchError) -> RunningContestant
    {
        try RunningContestant(contestant, in: workspace, with: instrument)
    }

    /// Ends what the measures shared: the process does not wait for its objects to go.
    func end() {
        secureSetting?.origin.stop()
        workspace.remove()
    }

    func secure() throws(BenchError) -> SecureSetting {
        if let secureSetting { return secureSetting }
        let made = try SecureSetting(in: workspace, origin: originPort, on: loop)
        secureSetting = made
        return made
    }

    /// - Parameter origin: the port that is asked for, if not that of the bench's own origin.
    func load(
        _ connections: Int, through contestant: RunningContestant, to path: String, origin: UInt16? = nil,
        security: LoadSecurity? = nil, manner: LoadGenerator.Manner = .keeps
    ) async throws(BenchError) -> LoadGenerator {
        try await LoadGenerator(
            connections, over: contestant.route, to: path, origin: origin ?? originPort, security: security,
            manner: manner, on: loop)
    }
}
