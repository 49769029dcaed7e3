import CLinux
import Glibc
import Synchronization

/// The system's log daemon on this machine: each line is a datagram to its socket. Sending blocks while the daemon has
/// no room, so it needs a thread that may block.
public final class SyslogSocket: LineWriter.Sink {
    private let path: String
    /// The descriptor; -1 if none.
    private let descriptor = Mutex<Int32>(-1)

    /// The bytes of a shortened line, if it is too long for the system. Daemons truncate longer ones themselves.
    private static let shortened = 8 << 10

    /// - Parameter path: the path of the daemon's socket. It is connected when there is something to send, and again
    ///   after the daemon was away.
    public init(_ path: String) { self.path = path }

    deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

    public func write(_ bytes: [UInt8]) -> LineWriter.Written {
        descriptor.withLock { descriptor in
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                // An empty line ends a truncated one in other kinds of logs.
                if end > start, let error = send(bytes[start..<end], on: &descriptor) {
                    return .part(start, errno: error)
                }
                start = end + 1
            }
            return .all
        }
    }

    /// - Returns: the number of an error; nil: the line was sent.
    private func send(_ line: ArraySlice<UInt8>, on descriptor: inout Int32) -> Int32? {
        var isNew = false
        if descriptor < 0 {
            if let error = connect(&descriptor) { return error }
            isNew = true
        }
        switch attempt(line, on: descriptor) {
        case nil: return nil
        case EMSGSIZE?: return attempt(line.prefix(Self.shortened), on: descriptor)
        case let error?:
            // The former daemon has gone, and another may be there.
            close(descriptor)
            descriptor = -1
            return isNew ? error : send(line, on: &descriptor)
        }
    }

    private func attempt(_ line: ArraySlice<UInt8>, on descriptor: Int32) -> Int32? {
        line.withUnsafeBytes { bytes in
            while Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) < 0 {
                if errno != EINTR { return errno }
            }
            return nil
        }
    }

    private func connect(_ descriptor: inout Int32) -> Int32? {
        guard let path = LocalPath(path) else { return ENAMETOOLONG }
        do throws(IOError) {
            descriptor = try path.connected(as: SOCK_DGRAM)
            return nil
        } catch {
            guard case .system(let reason, _) = error else { return EIO }
            return reason
        }
    }
}
