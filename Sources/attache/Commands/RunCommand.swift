import Admin
import Bytes
import Credentials
import IO
import Proxy
import Rules
import Synchronization
import TLS
import Upstream

/// The command `attache run`: serves until a signal stops it.
struct RunCommand {
    let configuration: String
    /// Whether a changed rule file is read without a command.
    var watches = false

    /// The objects of the loops. The loops run until the process has ended, so these are never freed.
    private static let served = Mutex<[any Sendable]>([])

    /// The interval in which all files are read again, and its number of steps. A file that is written
    /// counts within a second.
    private static let refreshInterval: Milliseconds = 1000
    private static let steps = 2

    private static let heap = Mutex(HeapTrim())

    /// The time for the remaining work when the clients are gone.
    private static let margin = Duration.seconds(5)

    func run() -> Int32 {
        TLSMemory.share()
        Signals.block()
        PassedSockets.take()
        let watch = watches ? RuleFileWatch(configuration) : nil
        guard let loaded = Setup.load(configuration) else { return ExitStatus.usage }
        ProcessMemory.hideVariables(loaded.rules.configuration.secretVariables)
        do throws(StartError) {
            return try serve(loaded, watch)
        } catch {
            Console.error("\(error)")
            return ExitStatus.failed
        }
    }

    private func serve(_ first: Setup, _ made: RuleFileWatch?) throws(StartError) -> Int32 {
        if let danger = StatePath.danger(first.rules.configuration.state) { throw StartError(danger) }
        var setup = first
        var watch = made
        let store = RunningStore()
        let opened = try store.open(for: setup.rules.configuration)
        let memory = store.memory
        let shared = SharedState(
            storage: memory.storage, spaces: memory.spaces, tokens: memory.tokens, audit: memory.audit
        ) { Console.report($0) }
        let identities = try ListenerCertificates(setup.rules.configuration)
        let server = try ProxyServer(
            threads: setup.threads, listeners: identities.listeners, policy: try setup.policy(identities),
            shared: shared, onLimit: { Console.report($0, as: .limitMet) })
        setup.refresh(into: shared, identities)
        setup.offerRetries(to: shared)
        try setup.requireIdentities()
        try setup.requireAutomaticParents()
        let status = StatusSource(configuration, setup, server: server, store: store, shared: shared)
        let admin = try AdminListener(setup, proxy: server, shared: shared, status)
        let control = ControlSocket(
            setup.rules.configuration, of: shared, on: server.loops.first, telling: status, admin: admin.address,
            dashboard: admin.login)
        Self.served.withLock { $0 = [server, shared, admin.server, control.server] }
        Console.beginServing { shared.audit.note($0) }
        server.start()
        shared.audit.note(
            AuditEvent(.rulesLoaded, by: .command(user: LocalPeer.ownUser), details: configuration))
        if let opened { shared.audit.note(AuditEvent(.storeOpened, by: .proxy, details: "\(opened)")) }
        let report = StartReport(
            configuration: setup.rules.configuration, path: configuration, listeners: server.addresses,
            sockets: identities.listeners.filter(\.isLocal), admin: admin.address, store: store.place)
        report.tell()
        admin.login?.announce()
        Supervision.tell(.ready)
        let reload = Reload(
            configuration: configuration, server: server, shared: shared, store: store, requests: status.reloads)
        let read = { (cause: AuditEvent.Actor) in
            watch = watches ? RuleFileWatch(configuration) : nil
            setup = reload.run(since: setup, identities, for: cause)
            status.take(setup)
        }
        while true {
            status.refresh(setup, shared, identities)
            switch next({ if setup.credentials.hasNewFiles { setup.refresh(into: shared, identities) } }) {
            case .quiet:
                setup.refresh(into: shared, identities)
                admin.refresh()
                if watch?.hasChanged() == true { read(.file) }
            case .reload(let user): read(.signal(user: user))
            case .reopen: reopenLog(of: setup)
            case .terminate:
                control.remove()
                Console.note("the proxy is stopping", as: .proxyStopping)
                return drain(server, setup, status.reloads)
            }
            Console.reportRepetitions()
        }
    }

    /// Returns the next signal, or `quiet` when all files must be read again.
    ///
    /// - Parameter look: checks the files of secrets between two steps.
    private func next(_ look: () -> Void) -> Signals.Event {
        Self.heap.withLock { _ = $0.run() }
        for step in 1...Self.steps {
            let event = Signals.next(within: Self.refreshInterval / Self.steps)
            if event != .quiet || step == Self.steps { return event }
            look()
        }
        return .quiet
    }

    /// Opens the log file again, which may have been renamed by logrotate.
    private func reopenLog(of setup: Setup) {
        do throws(StartError) {
            try setup.openLog()
            Console.say("the access log was reopened", as: .logReopened)
        } catch {
            Console.say("\(error); lines still go to the old file", as: .logTroubled)
        }
    }

    /// Waits until all clients have their responses, the time is over, or another signal comes.
    private func drain(_ server: ProxyServer, _ setup: Setup, _ reloads: Reload.Requests) -> Int32 {
        Supervision.tell(.stopping(within: setup.drain + Self.margin))
        var isToldAgain = false
        let open = server.drain(within: setup.drain) { pause in
            switch Signals.next(within: pause) {
            case .terminate: isToldAgain = true
            case .reopen: reopenLog(of: setup)
            case .reload(let user):
                let reason = "the proxy is stopping"
                Console.say("the rule file was not reloaded: \(reason)")
                reloads.end(reloads.begin(for: .signal(user: user)).number, .rejected(reason: reason))
            case .quiet: break
            }
            return !isToldAgain
        }
        if open > 0 {
            let reason = isToldAgain ? ", because of a second signal" : " after \(setup.drain)"
            Console.say("stopped with \(open) connections still open\(reason)", as: .proxyStopped)
        } else {
            Console.note("stopped", as: .proxyStopped)
        }
        Console.endServing()
        server.flushLogs()
        return ExitStatus.success
    }
}

extension RunCommand: Command {
    static let syntax = CommandSyntax(
        name: "run", summary: "run the proxy in the foreground",
        options: [
            CommandOption.config,
            CommandOption(
                name: "watch",
                summary: ["reload when the rule file, or a file that it includes, changes"]),
            CommandOption(
                name: allowsCoreDumps,
                summary: ["allow core dumps and debuggers: both can show passwords"]),
        ],
        details: """
            Runs until it gets SIGTERM or SIGINT. It then finishes requests in flight, for as long as 'timeouts
            { drain }' says. A second signal stops it at once.

                attache run --config /etc/attache/proxy.conf --watch

            SIGHUP reloads the rule file. With --watch, a change of the file does so too, after a second or two
            without further changes. A file with errors changes nothing. SIGUSR1 reopens the access log, for
            logrotate. Requests and events are logged as 'log' says. Messages for the operator also go to
            standard error.
            """)

    static let allowsCoreDumps = "allow-core-dumps"

    init(_ arguments: Arguments) throws(CommandError) {
        self.init(
            configuration: try RuleFilePath.choose(arguments.value(of: "config")), watches: arguments.has("watch"))
    }
}

extension RunCommand {
    /// Detects that a rule file, or an included one, has been written: by an editor, or by a mount that replaces a
    /// directory under a link. Blocks on files.
    private struct RuleFileWatch {
        private let paths: [String]
        /// The state of the files when the rules were read.
        private var known: [SmallFile.Stamp?]
        /// The state of the files at the last check, if it differed: their writer may not have finished.
        private var seen: [SmallFile.Stamp?]

        /// Creates the watch. Do this before reading the rules, so that a change meanwhile counts as a later one.
        init(_ path: String) {
            let file = try? RuleFile(path, from: FileSource())
            let paths = file?.sources.files.map(\.path) ?? [path]
            self.paths = paths
            known = paths.map { SmallFile.Stamp(path: $0) }
            seen = known
        }

        /// Whether the files differ from those that were read, and have not changed since the last check. True once for
        /// each change.
        mutating func hasChanged() -> Bool {
            let present = paths.map { SmallFile.Stamp(path: $0) }
            defer { seen = present }
            guard present == seen, present != known else { return false }
            known = present
            return true
        }
    }
}
