import CLinux
import Glibc
import Synchronization

/// The system's log daemon on this machine: each line is a datagram to its socket. Sending blocks while the daemon has no room:
/// it belongs on a thread that may.
public final class SyslogSocket: LineSink {
    private let path: String
    /// -1: none.
    private let descriptor = Mutex<Int32>(-1)

    /// Bytes of a line that is too long for the system. Daemons cut longer ones themselves.
    private static let shortened = 8 << 10

    /// - Parameter path: of the daemon's socket, which is connected to when there is something to say, and once more after the
    ///   daemon was away.
    public init(_ path: String) { self.path = path }

    deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

    public func write(_ bytes: [UInt8]) -> LinesWritten {
        descriptor.withLock { descriptor in
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                // One that is empty ends a line that another kind of log would have left torn.
                if end > start, let error = send(bytes[start..<end], on: &descriptor) {
                    return .part(start, errno: error)
                }
                start = end + 1
            }
            return .all
        }
    }

    /// - Returns: an error's number; nil: the line was sent.
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
            // The daemon of before has gone, and another may be there.
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
