import Foundation
import TestSupport

/// TCP over IPv4, by loopback unless another address of this machine is said; blocking.
enum Socket {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) {
            description = "\(call): \(String(cString: strerror(errno)))"
        }
    }

    private static func address(_ port: UInt16, at host: in_addr_t = UInt32(0x7f00_0001).bigEndian) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host
        return address
    }

    private static func make() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        return descriptor
    }

    /// A socket that listens on a port that the kernel chooses.
    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = try listen(on: 0)
        guard let port = LoopbackPort.number(of: descriptor) else { throw Failure("getsockname") }
        return (descriptor, port)
    }

    static func listen(on port: UInt16) throws -> Int32 {
        let descriptor = try make()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var address = address(port)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 16) }
        }
        guard bound == 0, Foundation.listen(descriptor, 512) == 0 else {
            defer { close(descriptor) }
            throw Failure("bind 127.0.0.1:\(port)")
        }
        return descriptor
    }

    /// The next connection; nil when the descriptor, which `listen` made, has been shut down.
    static func accept(from descriptor: Int32) -> Int32? {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        while true {
            var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&readable, 1, -1)
            var reason: Int32 = 0
            let connection = Spawn.closedOnExec {
                let connection = Foundation.accept(descriptor, nil, nil)
                reason = errno
                return connection
            }
            if connection >= 0 {
                _ = fcntl(connection, F_SETFL, 0)
                return connection
            }
            guard reason == EAGAIN || reason == ECONNABORTED || reason == EINTR else { return nil }
        }
    }

    /// - Parameter host: an IPv4 address.
    static func connect(to port: UInt16, at host: String = "127.0.0.1") throws -> Int32 {
        let descriptor = try make()
        var address = address(port, at: inet_addr(host))
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(descriptor, $0, 16) }
        }
        guard connected == 0 else {
            defer { close(descriptor) }
            throw Failure("connect \(host):\(port)")
        }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        return descriptor
    }

    /// Waits until something accepts on the port.
    ///
    /// - Parameter host: an IPv4 address.
    static func awaitListener(
        on port: UInt16, at host: String = "127.0.0.1", of child: Subprocess, seconds: Double = 60
    ) throws {
        var isListening = false
        _ = Wait.until(seconds: seconds) {
            if let descriptor = try? connect(to: port, at: host) {
                close(descriptor)
                isListening = true
            }
            return isListening || !child.isRunning
        }
        if isListening { return }
        throw Spawn.Failure(description: "nothing listens on port \(port): \(child.output)\(child.errorOutput)")
    }
}
