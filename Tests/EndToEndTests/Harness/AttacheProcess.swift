import Foundation
import TestSupport
import Testing

/// A running `attache run` with a rule file of its own. What it wrote is searched for secrets when it has ended.
final class AttacheProcess: Sendable {
    /// The parts of the rule file that most tests leave alone.
    struct Setting: Sendable {
        var clients = "allow 127.0.0.0/8"
        var egress = "allow 127.0.0.0/8; connect-ports any"
        /// The block of `admin`.
        var admin = ""
        var threads = 2
        var log = "json file @/access.log"
        var environment: [String: String] = [:]
        /// The limit on open descriptors; nil leaves it as it is.
        var descriptors: Int?
        /// Whether the process may raise that limit.
        var mayRaiseDescriptors = false
        /// Whether standard error is a full pipe without a reader.
        var hasFullErrorOutput = false
        /// Whether standard output is a full pipe without a reader.
        var hasFullOutput = false
        /// The lines of a hosts file of its own, which only root can give it; nil for the system's.
        var hosts: String?
        /// Contents of files beside the rule file, by name; a rule names one as `file @/NAME`.
        var files: [String: String] = ["password": Account.password + "\n"]
        /// Whether a service manager has opened the two listening sockets, and one on that port beside them.
        var socketPassedBeside: UInt16?
        /// The options on the command line.
        var options: [String] = []
        /// Whether it runs under the filters of the systemd unit.
        var isConfined = false
        /// Whether its texts name the rule file by its name alone.
        var hasRelativePath = false
    }

    let port = FreePort.take()
    let adminPort = FreePort.take()
    let folder: String
    private let setting: Setting
    private let child: Subprocess

    private init(_ rules: String, _ setting: Setting) throws {
        folder = Scratch.folder("attache")
        self.setting = setting
        for (name, text) in setting.files { try Scratch.write(text, to: "\(folder)/\(name)", mode: 0o600) }
        let text = Self.ruleFile(rules, setting, port: port, adminPort: adminPort, folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf")
        let path = setting.hasRelativePath ? "proxy.conf" : folder + "/proxy.conf"
        let arguments = ["run", "--config", path] + setting.options
        if let hosts = setting.hosts {
            try Scratch.write(hosts, to: folder + "/hosts")
            child = try Subprocess(
                "unshare",
                ["-m", "sh", "-c", "mount --bind \(folder)/hosts /etc/hosts && exec \"$0\" \"$@\"", AttacheBinary.path]
                    + arguments,
                environment: setting.environment, directory: folder)
        } else if setting.isConfined {
            child = try Subprocess(
                "python3", Confinement.words(for: AttacheBinary.path, arguments), environment: setting.environment,
                directory: folder)
        } else if let beside = setting.socketPassedBeside {
            let ports = [port, adminPort, beside].map(String.init)
            child = try Subprocess(
                "python3", ["-c", Self.socketPassing] + ports + ["--", AttacheBinary.path] + arguments,
                environment: setting.environment, directory: folder)
        } else if setting.hasFullErrorOutput || setting.hasFullOutput {
            let stream = setting.hasFullOutput ? 1 : 2
            let words = "mkfifo full && exec 3<>full && head -c 65536 /dev/zero >&3 && exec \"$0\" \"$@\" \(stream)>&3"
            child = try Subprocess(
                "sh", ["-c", words, AttacheBinary.path] + arguments, environment: setting.environment,
                directory: folder)
        } else if let descriptors = setting.descriptors {
            child = try Subprocess(
                "sh",
                [
                    "-c", "ulimit \(setting.mayRaiseDescriptors ? "-Sn" : "-n") \(descriptors) && exec \"$0\" \"$@\"",
                    AttacheBinary.path,
                ] + arguments,
                environment: setting.environment, directory: folder)
        } else {
            child = try Subprocess(
                AttacheBinary.path, arguments, environment: setting.environment, directory: folder)
        }
        // The administrator's is opened behind that of the clients.
        for port in [port, adminPort] { try Socket.awaitListener(on: port, of: child) }
    }

    /// Listens on the ports, and becomes the program behind `--`, as systemd does with the sockets of a service.
    private static let socketPassing = """
        import fcntl, os, socket, sys
        end = sys.argv.index("--")
        passed = []
        for port in sys.argv[1:end]:
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", int(port)))
            one.listen()
            passed.append(fcntl.fcntl(one.fileno(), fcntl.F_DUPFD, 100))
        for place, descriptor in enumerate(passed):
            os.dup2(descriptor, 3 + place, inheritable=True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(passed)))
        os.closerange(3 + len(passed), 200)
        os.execv(sys.argv[end + 1], sys.argv[end + 1:])
        """

    /// Whether `Setting.hosts` can be had here.
    static let hasOwnHosts: Bool = {
        let run = try? Finished.run("unshare", ["-m", "mount", "--bind", "/etc/hosts", "/etc/hosts"])
        return run?.succeeded ?? false
    }()

    /// Runs a proxy with these rules while the body runs, then ends it by SIGTERM.
    @discardableResult
    static func running<Value>(
        _ rules: String = "", setting: Setting = Setting(), _ body: (AttacheProcess) throws -> Value
    ) throws -> Value {
        let proxy = try AttacheProcess(rules, setting)
        defer { proxy.finish() }
        return try body(proxy)
    }

    /// Runs a proxy that answers Basic and Digest challenges of these loopback ports with the account of the harness.
    static func answering(
        _ ports: UInt16..., modifiers: String = "", rules: String = "", setting: Setting = Setting(),
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let credential = "credential web { user \(Account.user); password file @/password }"
        let challenges = ports.map { "challenge { host 127.0.0.1; port \($0); use web; \(modifiers) }" }
        try running(([rules, credential] + challenges).joined(separator: "\n"), setting: setting, body)
    }

    static func ruleFile(
        _ rules: String, _ setting: Setting, port: UInt16, adminPort: UInt16, folder: String
    ) -> String {
        """
        listen 127.0.0.1:\(port)
        admin 127.0.0.1:\(adminPort) \(setting.admin)
        state \(folder)
        threads \(setting.threads)
        log \(setting.log)
        clients { \(setting.clients) }
        egress { \(setting.egress) }
        \(rules)

        """.replacing("@/", with: folder + "/")
    }

    // MARK: Reaching it

    var address: String { "http://127.0.0.1:\(port)" }

    func connect() throws -> Wire { try Wire(to: port) }

    /// Sends one request with raw bytes on a new connection and returns the response.
    func exchange(_ request: String, method: String = "GET") throws -> Message {
        let wire = try connect()
        try wire.send(request)
        return try wire.readResponse(to: method)
    }

    func get(_ url: String, _ options: String...) throws -> Fetched {
        try Curl.fetch(url, ["-x", address] + options)
    }

    // MARK: Steering it

    /// Replaces the rule file's rules, and its egress where that is given, and sends SIGHUP.
    func reload(_ rules: String, egress: String? = nil) throws {
        var setting = setting
        if let egress { setting.egress = egress }
        let text = Self.ruleFile(rules, setting, port: port, adminPort: adminPort, folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf")
        child.signal(SIGHUP)
    }

    /// Replaces a file beside the rule file in one step, as secret mounts do.
    func replace(_ name: String, with text: String) throws {
        try Scratch.write(text, to: "\(folder)/\(name).new", mode: 0o600)
        rename("\(folder)/\(name).new", "\(folder)/\(name)")
    }

    func terminate() { child.signal(SIGTERM) }

    func signal(_ number: Int32) { child.signal(number) }

    /// The exit status, or nil if it is still running after that time.
    func awaitExit(seconds: Double = 60) -> Int32? { child.wait(seconds: seconds) }

    // MARK: Watching it

    var errorOutput: String { child.errorOutput }
    var standardOutput: String { child.output }
    var isRunning: Bool { child.isRunning }
    var identifier: pid_t { child.identifier }
    var accessLog: String { Scratch.read(folder + "/access.log") }

    /// The port of its listener at that address, which the system chose.
    func port(listeningAt host: String) -> UInt16? {
        let said = "listening on \(host):"
        guard awaitErrorOutput(said), let rest = errorOutput.components(separatedBy: said).last else { return nil }
        return UInt16(rest.prefix { $0.isNumber })
    }

    /// The value of one line of its metrics.
    /// - Parameter name: with the labels, if it has any.
    func metric(_ name: String) throws -> Int {
        let text = try Curl.fetch("http://127.0.0.1:\(adminPort)/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(name)")
    }

    /// Entries of the access log, which is written behind the responses: waits until there are so many.
    func records(atLeast count: Int = 1) throws -> [AccessRecord] {
        _ = Wait.until { accessLogLines.count >= count }
        return try accessLogLines.map(AccessRecord.init)
    }

    /// The lines of exchanges, without the one that is being written.
    var accessLogLines: [Substring] { logLines.filter { !Self.isEvent($0) } }

    /// Entries of the log that tell of changes.
    func events() throws -> [AccessRecord] { try allEvents().filter { !Self.notices.contains($0["event"] ?? "") } }

    /// The log entries with messages for the operator.
    func notices() throws -> [AccessRecord] { try allEvents().filter { Self.notices.contains($0["event"] ?? "") } }

    private func allEvents() throws -> [AccessRecord] { try logLines.filter(Self.isEvent).map(AccessRecord.init) }

    private static let notices: Set = [
        "proxy.started", "proxy.stopping", "proxy.stopped", "secret.unreadable", "trust.incomplete", "limit.met",
        "log.reopened",
        "log.troubled", "notice",
    ]

    private var logLines: [Substring] {
        accessLog.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    private static func isEvent(_ line: Substring) -> Bool { line.contains("\",\"event\":\"") }

    /// Reads how much memory it has.
    ///
    /// - Parameter field: a line of /proc/PID/status: `VmHWM:` for the most that it had.
    /// - Returns: KiB.
    func residentKiB(_ field: String = "VmRSS:") throws -> Int {
        let status = Scratch.read("/proc/\(identifier)/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field) })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    /// Waits for a text on standard error.
    func awaitErrorOutput(_ text: String) -> Bool {
        Wait.until { errorOutput.contains(text) }
    }

    private func finish() {
        defer { for port in [port, adminPort] { FreePort.release(port) } }
        terminate()
        if let status = awaitExit() {
            #expect(status == 0, "attache ended with \(status): \(errorOutput)")
        } else {
            _ = child.kill()
            Issue.record("attache did not end after SIGTERM: \(errorOutput)")
        }
        for secret in Account.secrets {
            for (place, text) in [("stderr", errorOutput), ("stdout", standardOutput), ("access log", accessLog)] {
                #expect(!text.contains(secret), "a password stands in the \(place)")
                #expect(!text.contains(Data(secret.utf8).base64EncodedString()), "an encoded password in the \(place)")
            }
        }
    }
}
