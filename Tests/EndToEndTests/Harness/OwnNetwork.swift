import Foundation

/// A network of its own, with a loopback interface alone, in which a firewall can redirect connections. Only root can make one.
///
/// The sockets that a body makes and the programs that it starts are in it, as long as its own thread does that.
enum OwnNetwork {
    /// The reason why this machine gives none; nil if it does.
    static let obstacle: String? = {
        if geteuid() != 0 { return "only root can make a network of its own" }
        for program in ["ip", "iptables", "ip6tables"] where (try? Spawn.executable(program)) == nil {
            return "\(program) is not installed"
        }
        do {
            return try run { () -> String? in
                let rule = ["-t", "nat", "-A", "OUTPUT", "-p", "tcp", "-j", "REDIRECT", "--to-ports", "1"]
                for program in ["iptables", "ip6tables"] {
                    let run = try Finished.run(program, rule)
                    if !run.succeeded { return "\(program) cannot redirect: \(run.errorOutput)" }
                }
                return nil
            }
        } catch { return "\(error)" }
    }()

    /// Runs the body in a network of its own.
    static func run<Value>(_ body: () throws -> Value) throws -> Value {
        let join = try Self.setns()
        let earlier = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        guard earlier >= 0, try Self.unshare()(Self.network) == 0 else {
            throw Spawn.Failure(description: "unshare: \(String(cString: strerror(errno)))")
        }
        defer {
            // A thread that stays in the network would run other tests there.
            precondition(join(earlier, Self.network) == 0, "setns: \(String(cString: strerror(errno)))")
            close(earlier)
        }
        try command("ip", "link", "set", "lo", "up")
        return try body()
    }

    /// The value of CLONE_NEWNET in sched.h. Swift does not see it, nor the two calls.
    private static let network: Int32 = 0x4000_0000

    private static func unshare() throws -> @convention(c) (Int32) -> Int32 {
        unsafeBitCast(try address(of: "unshare"), to: (@convention(c) (Int32) -> Int32).self)
    }

    private static func setns() throws -> @convention(c) (Int32, Int32) -> Int32 {
        unsafeBitCast(try address(of: "setns"), to: (@convention(c) (Int32, Int32) -> Int32).self)
    }

    private static func address(of name: String) throws -> UnsafeMutableRawPointer {
        guard let address = dlsym(nil, name) else { throw Spawn.Failure(description: "there is no \(name)") }
        return address
    }

    /// Runs a command that must succeed.
    static func command(_ program: String, _ arguments: String...) throws {
        let run = try Finished.run(program, arguments)
        if !run.succeeded { throw Spawn.Failure(description: "\(program) \(arguments): \(run.errorOutput)") }
    }
}
