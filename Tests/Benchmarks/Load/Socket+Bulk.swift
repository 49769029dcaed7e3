import Glibc
import IO

/// Calls for a load generator only: bytes that are not read.
extension Socket {
    /// Drops up to `limit` received bytes inside the kernel.
    func tryDiscard(limit: Int) -> Transfer {
        guard isReadable else { return .wouldBlock }
        let room = min(limit, 1 << 20)
        let count = recv(descriptor, nil, room, Int32(truncatingIfNeeded: MSG_TRUNC))
        if count > 0, count < room, !hasPeerEnded { isReadable = false }
        if count > 0 { return .moved(count) }
        if count == 0 { return .endOfStream }
        if errno == EINTR { return .moved(0) }
        guard errno == EAGAIN else { return .failed(errno: errno) }
        isReadable = false
        return .wouldBlock
    }

    /// Writes once from `bytes`, which many connections share.
    func tryWrite(_ bytes: [UInt8], from offset: Int) -> Transfer {
        guard isWritable else { return .wouldBlock }
        let count = bytes.withUnsafeBytes { all in
            let rest = UnsafeRawBufferPointer(rebasing: all[offset...])
            return send(descriptor, rest.baseAddress, rest.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
        if count >= 0 { return .moved(count) }
        if errno == EINTR { return .moved(0) }
        guard errno == EAGAIN else { return .failed(errno: errno) }
        isWritable = false
        return .wouldBlock
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) async throws(IOError) {
        var offset = 0
        while offset < bytes.count {
            try check()
            switch tryWrite(bytes, from: offset) {
            case .moved(let count): offset += count
            case .endOfStream: throw .endOfStream
            case .failed(let errno): throw .system(errno: errno, operation: "cannot write")
            case .wouldBlock: await waitForEvent()
            }
        }
    }
}
