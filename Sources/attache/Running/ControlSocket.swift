import Admin
import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Rules
import Upstream

/// The control socket of this process, if it has one. A proxy without one serves all the same.
struct ControlSocket {
    private let path: LocalPath?
    let server: LoopBound<ControlServer>?

    /// The socket by which commands reach a running proxy: `control` in the directory that `state` names.
    ///
    /// - Parameter state: the directory that the rule file names.
    /// - Throws: the reason why there is no socket.
    static func path(state: String?) throws(CommandError) -> LocalPath {
        guard let directory = StatePath.find(state) else {
            throw .failed(StatePath.unknown(for: "the control socket"))
        }
        guard let path = LocalPath("\(directory)/control") else {
            throw .failed(
                "the path of the control socket \(directory)/control is longer than \(LocalPath.longest) bytes; "
                    + "write a shorter directory in 'state'")
        }
        return path
    }

    /// - Parameter admin: the address of the admin listener.
    init(
        _ configuration: Configuration, of shared: SharedState, on loop: EventLoop?, telling status: StatusSource,
        admin: SocketAddress?, dashboard: DashboardLogin?
    ) {
        let path: LocalPath
        do throws(CommandError) { path = try Self.path(state: configuration.state) } catch {
            (self.path, server) = (nil, nil)
            if configuration.state != nil { Console.error(error.sentence) }
            return
        }
        guard let loop else {
            (self.path, server) = (nil, nil)
            return
        }
        var sources = ControlSources(
            state: shared.challenges, challenges: { shared.challenges.challenges },
            status: { status.status(admin: admin) }, reloads: status.reloads)
        sources.names = { status.names }
        sources.credentials = { status.credentials(opens: $0) }
        sources.metrics = { status.metrics(shared, as: $0) }
        sources.dashboardLink = { dashboard?.makeLink() }
        do {
            try Self.makeDirectory(of: path)
            server = LoopBound(try ControlServer(at: path, on: loop, sources: sources), to: loop)
            self.path = path
        } catch {
            (self.path, server) = (nil, nil)
            // The rule file does not name the directory, so the socket may not be needed.
            if let reason = Self.sentence(on: error, path, isNamed: configuration.state != nil) {
                Console.error(reason)
            }
        }
    }

    private static func makeDirectory(of path: LocalPath) throws(LocalListener.Failure) {
        do throws(IOError) {
            try DurableFile.makeDirectory(String(path.description.dropLast("/control".count)))
        } catch { throw .failed(error) }
    }

    private static func sentence(on error: LocalListener.Failure, _ path: LocalPath, isNamed: Bool) -> String? {
        switch error {
        case .inUse(let process):
            "process \(process) uses the control socket \(path), so this proxy has none: give each proxy a 'state' of "
                + "its own"
        case .failed(let error): isNamed ? "there is no control socket: \(error)" : nil
        }
    }

    /// Removes the socket when the proxy stops.
    func remove() { path?.remove() }
}

/// A running proxy, as a command reaches it.
struct RunningProxy {
    private let path: LocalPath

    private static let patience: Milliseconds = 10_000
    private static let answerLimit = 64 << 20

    /// The proxy that runs by a rule file.
    ///
    /// - Parameter path: the file's.
    /// - Throws: why there is no socket to ask, or that the running proxy uses another rule file.
    init(_ configuration: Configuration, at path: String) throws(CommandError) {
        try self.init(state: configuration.state, rules: path)
    }

    /// The proxy that runs by the rule file of `--config`, which may have been changed since and have errors now.
    init(by arguments: Arguments) throws(CommandError) {
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        let file = try RuleFile.read(path)
        if file.configuration == nil {
            Console.error(
                "\(path) has errors ('attache check' shows them): the proxy uses the rules that it read before")
        }
        try self.init(state: file.state, rules: path)
    }

    private init(state: String?, rules: String) throws(CommandError) {
        if let danger = StatePath.danger(state) { throw .failed(danger) }
        path = try ControlSocket.path(state: state)
        // An older proxy does not say which file it uses.
        guard let answer = try send("GET", "/rules"), answer.status == .ok else { return }
        let used = String(answer.body.prefix { $0 != "\n" })
        if used == rules { return }
        if let one = try? WholePath.of(used), let other = try? WholePath.of(rules), one == other { return }
        throw .failed(
            "the running proxy uses the rule file \(Console.printable(used)), not \(rules): nothing was done; use --config "
                + ShellWord.quoted(Console.printable(used)))
    }

    var absence: CommandError {
        .failed("no proxy is running on \(path): start it with 'attache run', or name its rule file by --config")
    }

    /// Prints a response of the proxy, as a command's whole work.
    ///
    /// - Parameter nothing: for standard error, if the response is empty.
    func show(
        _ target: String, by method: String = "GET", with secret: Secret? = nil, or nothing: String? = nil
    ) throws(CommandError) -> Int32 {
        guard let page = try ask(method, target, with: secret) else { throw absence }
        if page.isEmpty, let nothing { Console.error(nothing) } else { Console.printText(page) }
        return ExitStatus.success
    }

    /// - Parameters:
    ///   - target: the request target with its query.
    ///   - secret: the request's body.
    /// - Returns: the response's body; nil if no proxy runs.
    func ask(_ method: String, _ target: String, with secret: Secret? = nil) throws(CommandError) -> String? {
        guard let (status, body) = try send(method, target, with: secret) else { return nil }
        guard status == .ok else { throw .failed("the running proxy says: \(body.prefix { $0 != "\n" })") }
        return body
    }

    /// - Returns: the response's status and body; nil if no proxy runs.
    private func send(
        _ method: String, _ target: String, with secret: Secret? = nil
    ) throws(CommandError) -> (status: Status, body: String)? {
        let length = secret.map { "Content-Length: \($0.count)\r\n" } ?? ""
        var request = Array(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(length)Connection: close\r\n\r\n".utf8)
        secret?.withBytes { request += $0.array }
        defer { _ = Secret(wiping: &request) }
        let answer: [UInt8]
        do throws(IOError) {
            answer = try BlockingExchange.send(
                request, to: path, within: Self.patience, limit: Self.answerLimit)
        } catch {
            if case .system(let reason, _) = error, LocalPath.isAbsence(reason) { return nil }
            if case .foreignPeer(let user) = error {
                throw .failed(
                    "\(path) belongs to user \(user), who is neither this user nor the owner of its directory: "
                        + "nothing was sent")
            }
            throw .failed("cannot reach the running proxy by \(path): \(error)")
        }
        let head = ResponseHead()
        guard case .complete(let length)? = try? head.parse(answer.span, answering: .get) else {
            throw .failed("no answer from \(path): run the command as the proxy's user or as root")
        }
        return (head.status, String(decoding: answer.dropFirst(length), as: UTF8.self))
    }
}
