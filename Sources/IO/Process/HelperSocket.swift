import CLinux
import Glibc

/// The socket of a helper that another user runs. Each connection is for one request and its answer.
public struct HelperSocket: Sendable {
    private let path: LocalPath

    /// Checks who may replace the socket.
    ///
    /// - Parameter path: an absolute path.
    public init(_ path: String) throws(HelperProgram.Failure) {
        guard let local = LocalPath(path) else { throw .notASocket }
        self.path = local
        _ = try owner()
    }

    /// The user who owns the socket. No other user but root and the own one may put another socket in its place.
    private func owner() throws(HelperProgram.Failure) -> UInt32 {
        var status = stat()
        guard lstat(path.description, &status) == 0 else { throw .unconnected(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        let owner = status.st_uid
        let name = path.description.split(separator: "/", omittingEmptySubsequences: false).last?.utf8.count ?? 0
        guard stat(path.description.dropLast(name) + ".", &status) == 0 else { throw .unconnected(errno: errno) }
        guard [0, geteuid(), owner].contains(status.st_uid) else { throw .foreignOwner(status.st_uid) }
        // In a directory such as /tmp, others cannot replace it.
        let isShared = status.st_mode & (S_IWGRP | S_IWOTH) != 0
        guard !isShared || status.st_mode & S_ISVTX != 0 else { throw .writable(status.st_mode & 0o7777) }
        return owner
    }

    /// Sends the request, ends it, and reads the answer to its end. Blocks: call it on a thread that may wait.
    public func ask(_ request: [UInt8], within limits: HelperProgram.Limits) throws(HelperProgram.Failure) -> [UInt8] {
        let owner = try owner()
        let descriptor: Int32
        do throws(IOError) { descriptor = try path.connected(blocking: false) } catch {
            guard case .system(let reason, _) = error else { throw .unconnected(errno: ECONNREFUSED) }
            throw .unconnected(errno: reason)
        }
        defer { Glibc.close(descriptor) }
        guard let peer = LocalPeer(of: descriptor), peer.user == owner else { throw .foreignPeer }
        let deadline = ContinuousClock.now + limits.time
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                try wait(for: POLLOUT, descriptor, until: deadline, limits)
            } else if count < 0, errno == EPIPE || errno == ECONNRESET {
                // It has answered, or ended, without reading the rest.
                break
            } else {
                throw .unconnected(errno: errno)
            }
        }
        shutdown(descriptor, Int32(SHUT_WR))
        return try answer(descriptor, until: deadline, limits)
    }

    private func answer(
        _ descriptor: Int32, until deadline: ContinuousClock.Instant, _ limits: HelperProgram.Limits
    ) throws(HelperProgram.Failure) -> [UInt8] {
        var answer: [UInt8] = []
        answer.reserveCapacity(limits.output + 1)
        var isWhole = false
        defer { if !isWhole { SmallFile.wipe(&answer) } }
        var piece = [UInt8](repeating: 0, count: 4096)
        defer { SmallFile.wipe(&piece) }
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                try wait(for: POLLIN, descriptor, until: deadline, limits)
                continue
            }
            // The process has ended after its answer, without reading the whole request.
            if count < 0, errno == ECONNRESET, !answer.isEmpty { break }
            guard count > 0 else { throw .unconnected(errno: errno) }
            guard answer.count + count <= limits.output else { throw .tooMuch(limits.output) }
            answer += piece[..<count]
        }
        isWhole = true
        return answer
    }

    private func wait(
        for event: Int32, _ descriptor: Int32, until deadline: ContinuousClock.Instant, _ limits: HelperProgram.Limits
    ) throws(HelperProgram.Failure) {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timedOut(limits.time) }
        var watched = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&watched, 1, Int32(clamping: max(1, Int64(left / .milliseconds(1)))))
    }
}
