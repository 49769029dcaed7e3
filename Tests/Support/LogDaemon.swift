import Foundation
import Glibc

/// A log daemon's socket, as a test reads it.
public final class LogDaemon {
    public struct Failure: Error {}

    public let path: String
    private let descriptor: Int32

    public init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else { throw Failure() }
    }

    /// The object removes its socket at its end.
    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next message; nil where none comes within a minute.
    public func next() -> String? {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 60_000) > 0 else { return nil }
        var message = [UInt8](repeating: 0, count: 1 << 18)
        let count = recv(descriptor, &message, message.count, 0)
        return count < 0 ? nil : String(decoding: message.prefix(count), as: UTF8.self)
    }
}
