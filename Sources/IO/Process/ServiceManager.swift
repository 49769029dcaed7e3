import Bytes
import CLinux
import Glibc

/// The service manager that supervises this process, such as systemd. It gets the state of the process (sd_notify(3)).
public struct ServiceManager: Sendable {
    public enum State: Sendable {
        /// The process serves, at first or after a reload.
        case ready
        case reloading
        /// The process accepts nothing new, and ends within that time.
        case stopping(within: Duration)

        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
            case .stopping(let limit): "STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Self.microseconds(limit))"
            }
        }

        private static var monotonicMicroseconds: Int {
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
        }

        private static func microseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = duration.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
            return overflow ? .max : max(product, product &+ attoseconds / 1_000_000_000_000)
        }
    }

    private let socket: String
    /// The time limit. A manager that does not answer delays the process no longer than that.
    private static let patience = Milliseconds.seconds(1)

    /// - Parameter socket: the value of `$NOTIFY_SOCKET`: a path, or `@` and a name. Nil if the process is not
    ///   supervised.
    public init?(socket: String?) {
        guard let socket, socket.hasPrefix("/") || socket.hasPrefix("@"),
            (2...LocalPath.longest).contains(socket.utf8.count)
        else { return nil }
        self.socket = socket
    }

    /// Sends a state. Blocks, for a second at most.
    public func tell(_ state: State) throws(IOError) {
        let operation = "cannot tell the service manager at \(socket)"
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: operation) }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: Self.patience.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var text = state.text
        let sent = text.withUTF8 { bytes in
            withSystemAddress { address, length in
                sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
        guard sent >= 0 else { throw .system(errno: errno, operation: operation) }
    }

    private func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var system = sockaddr_un()
        system.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &system.sun_path) { room in
            room.copyBytes(from: socket.utf8)
            // The name of an abstract socket begins with a zero byte.
            if socket.hasPrefix("@") { room[0] = 0 }
        }
        // The length counts: an abstract name ends with it, not with a zero byte.
        let length = MemoryLayout<sa_family_t>.size + socket.utf8.count
        return withUnsafePointer(to: &system) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }
}
