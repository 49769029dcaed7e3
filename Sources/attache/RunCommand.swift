import Credentials
import IO
import Proxy
import Rules

/// `attache run`: serves until it is told to stop.
struct RunCommand {
    let configuration: String

    /// How often changed files are looked for, in milliseconds.
    private static let refreshInterval = 1000

    func run() -> Int32 {
        Signals.block()
        guard let loaded = Setup.load(configuration) else { return ExitStatus.usage }
        do throws(StartError) {
            return try serve(loaded)
        } catch {
            Console.error("\(error)")
            return ExitStatus.failed
        }
    }

    private func serve(_ first: Setup) throws(StartError) -> Int32 {
        var setup = first
        let shared = SharedState(storage: MemoryCredentialStorage()) { Console.error($0) }
        let server = try ProxyServer(
            threads: setup.threads, listeners: setup.listeners, policy: try setup.policy(), shared: shared)
        setup.refresh(into: shared)
        server.start()
        for address in server.addresses { Console.error("listening on \(address)") }
        while true {
            switch Signals.next(within: Self.refreshInterval) {
            case .quiet: setup.refresh(into: shared)
            case .reload: setup = reload(setup, server: server, shared: shared)
            case .terminate: return drain(server, within: setup.drain)
            }
        }
    }

    /// The new rules, or, where they cannot be used, the old ones.
    private func reload(_ running: Setup, server: ProxyServer, shared: SharedState) -> Setup {
        guard let fresh = Setup.load(configuration) else {
            Console.error("the rule file was not reloaded: the running rules stay")
            return running
        }
        do throws(StartError) {
            fresh.refresh(into: shared)
            server.adopt(try fresh.policy())
            fresh.reportFixedSettings(since: running)
            Console.error("the rule file was reloaded")
            return fresh
        } catch {
            Console.error("\(error)\nthe rule file was not reloaded: the running rules stay")
            return running
        }
    }

    private func drain(_ server: ProxyServer, within limit: Duration) -> Int32 {
        let open = server.drain(within: limit)
        if open > 0 { Console.error("stopped with \(open) connections still open after \(limit)") }
        return ExitStatus.success
    }
}
