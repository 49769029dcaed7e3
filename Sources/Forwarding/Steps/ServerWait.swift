import Bytes
import Transport

/// The wait for bytes of a server, with its limit. The wait has two parts: most servers send within a second, and who waits
/// longer needs no buffers meanwhile.
struct ServerWait {
    private enum Part {
        /// The first second of the wait. Becomes `.rest`.
        case first
        /// The rest of the wait, or all of it.
        case rest
    }

    private var part = Part.rest

    private static let firstPart: Milliseconds = 1000

    /// Begins to wait on `stream`, for at most `limit`.
    /// - Parameter isWhole: whether the wait has one part alone.
    mutating func begin(_ limit: Milliseconds, on stream: ByteStream?, isWhole: Bool = false) {
        part = isWhole || limit <= Self.firstPart ? .rest : .first
        stream?.setDeadline(after: part == .first ? Self.firstPart : limit)
    }

    /// Begins the second part of the wait, after the deadline of the first.
    /// - Returns: false if the limit has passed.
    mutating func goesOn(to limit: Milliseconds, on stream: ByteStream?) -> Bool {
        guard part == .first else { return false }
        part = .rest
        stream?.setDeadline(after: limit - Self.firstPart)
        return true
    }
}
