import Glibc
import IO
import TestSupport

/// A contestant whose port accepts connections.
final class RunningContestant {
    let name: String
    let route: Route
    /// The file of its rules or settings.
    let file: String
    private let child: Child
    private let log: String

    /// Starts it on a free port, and waits until it accepts.
    init(
        _ contestant: Contestant, in workspace: Workspace, with instrument: Contestant.Instrument = .none
    ) throws(BenchError) {
        let port = try Self.freePort()
        name = contestant.name
        route = contestant.route(port)
        file = try workspace.write(contestant.configuration(port, workspace.path), to: "\(port).conf")
        log = "\(workspace.path)/\(port).log"
        var (command, environment) = (contestant.command(file), [] as [String])
        switch instrument {
        case .none: break
        case .allocations(let library, let counter):
            environment = ["LD_PRELOAD=\(library)", "BENCH_ALLOCATIONS=\(counter)"]
        case .instructions(let report):
            // Valgrind gives up at the debugging information of some compilers, and needs none to count.
            if let program = command.first {
                let stripped = "\(workspace.path)/\(name)-counted"
                try Child.run(["strip", "--strip-debug", "-o", stripped, program])
                command[0] = stripped
            }
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=\(report)"] + command
        }
        let log = log
        child = try Processors.onSecond { () throws(BenchError) in
            try Child(command, environment: environment, log: log)
        }
        if Self.listens(child, on: port) { return }
        if child.hasEnded { throw .contestant("\(name) did not start: \(firstWords)") }
        child.stop()
        throw .contestant("\(name) did not listen within a minute")
    }

    /// All that it has printed.
    var output: String { Workspace.text(log) ?? "" }

    /// The start of what it printed.
    private var firstWords: String {
        output.split(separator: "\n").prefix(4).joined(separator: "\n    ")
    }

    /// CPU time so far, in nanoseconds.
    var processorTime: Int { child.processorTime }

    /// Resident memory in KiB.
    var residentMemory: Int { child.residentMemory }

    /// The memory once it is at rest: after the responses of a load some is still to be freed.
    var settledMemory: Int {
        var (before, looks) = (residentMemory, 0)
        _ = Wait.until(seconds: 10) {
            let now = residentMemory
            looks = now == before ? looks + 1 : 0
            before = now
            return looks == 50
        }
        return before
    }

    /// Stops the contestant. Call it when no client connection is left, so that it ends in order.
    func stop() { child.stop() }

    deinit { child.stop(patience: 0.1) }

    /// A port from the system. It stays bound, without listening, so that no other program gets it before the
    /// contestant binds it as well (`SO_REUSEADDR`).
    static func freePort() throws(BenchError) -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw .connection(.system(errno: errno, operation: "no port is free")) }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Waits until something accepts a connection on the port, asked without the loop. False when the child has ended before,
    /// or takes too long.
    static func listens(_ child: Child, on port: UInt16) -> Bool {
        var isListening = false
        _ = Wait.until {
            isListening = accepts(port)
            return isListening || child.hasEnded
        }
        return isListening
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
