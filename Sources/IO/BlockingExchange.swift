import Glibc

/// One question and its answer over a connection of their own. Blocks: for a command that has no loop.
public enum BlockingExchange {
    /// Sends `request` and reads until the peer ends the connection or `limit` bytes came, which are then returned.
    /// All of it may take `milliseconds`.
    public static func send(
        _ request: [UInt8], to address: SocketAddress, within milliseconds: Int, limit: Int
    ) throws(IOError) -> [UInt8] {
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a socket") }
        defer { close(descriptor) }
        let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
        try limitNextCall(on: descriptor, SO_SNDTIMEO, until: end)
        guard address.withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else {
            throw failure("cannot connect")
        }
        var sent = 0
        while sent < request.count {
            try limitNextCall(on: descriptor, SO_SNDTIMEO, until: end)
            let count = request.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw failure("cannot send") }
            sent += count
        }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1024)
        while answer.count < limit {
            try limitNextCall(on: descriptor, SO_RCVTIMEO, until: end)
            let room = min(piece.count, limit - answer.count)
            let count = recv(descriptor, &piece, room, 0)
            if count == 0 { break }
            guard count > 0 else { throw failure("cannot receive") }
            answer += piece[..<count]
        }
        return answer
    }

    private static func limitNextCall(
        on descriptor: Int32, _ option: Int32, until end: ContinuousClock.Instant
    ) throws(IOError) {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: end).components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        // Zero would mean no limit.
        guard limit.tv_sec > 0 || limit.tv_sec == 0 && limit.tv_usec > 0 else { throw .timedOut }
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func failure(_ operation: String) -> IOError {
        let reason = errno
        return [EAGAIN, EINPROGRESS].contains(reason) ? .timedOut : .system(errno: reason, operation: operation)
    }
}
