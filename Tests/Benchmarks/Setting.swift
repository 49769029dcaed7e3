import IO

/// What all measures share: the machine's loops, the origin, the contestants' files.
final class Setting {
    let options: Options
    let workspace: Workspace
    let loop: EventLoop
    let origin = Origin()
    let originPort: UInt16
    let foreignLoad = ForeignLoad()

    init(_ options: Options, on loop: EventLoop, originLoop: EventLoop) throws(BenchError) {
        self.options = options
        self.loop = loop
        workspace = try Workspace()
        do throws(IOError) { originPort = try origin.listen(on: originLoop) } catch { throw .connection(error) }
    }

    /// Nil where HAProxy is not installed: then there is nothing to compare with.
    var plainHAProxy: Contestant? {
        hasHAProxy ? HAProxyContestant.forward(options.haproxy, origin: originPort) : nil
    }
    var hasHAProxy: Bool { Workspace.size(of: options.haproxy) != nil }

    func start(_ contestant: Contestant, with instrument: Contestant.Instrument = .none)
        throws(BenchError) -> RunningContestant
    {
        try RunningContestant(contestant, in: workspace, with: instrument, on: loop)
    }

    func load(_ connections: Int, through contestant: RunningContestant, to path: String)
        async throws(BenchError) -> LoadGenerator
    {
        try await LoadGenerator(connections, over: contestant.route, to: path, origin: originPort, on: loop)
    }
}
