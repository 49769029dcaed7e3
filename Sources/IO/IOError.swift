import CLinux
import Glibc

/// An error of a descriptor. `system` has the errno; the others are conditions of this target.
public enum IOError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The deadline of the channel passed.
    case timedOut
    /// The channel was closed on this side while, or before, it was used.
    case closed
    /// The peer closed its side before enough bytes had arrived.
    case endOfStream
    /// A socket in the file system belongs to a user who is not trusted with the request.
    case foreignPeer(UInt32)
    case system(errno: Int32, operation: String)

    public var description: String {
        switch self {
        case .timedOut: "the time limit passed"
        case .closed: "the connection was closed"
        case .endOfStream: "the peer ended the connection early"
        case .foreignPeer(let user): "the socket belongs to user \(user)"
        case .system(let errno, let operation): "\(operation): \(Self.sentence(for: errno))"
        }
    }

    /// Whether the machine is out of descriptors or memory, which is not the peer's fault.
    public var isLocalResource: Bool {
        guard case .system(let errno, _) = self else { return false }
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(errno)
    }

    /// The system's text for an errno, in lower case to fit inside a sentence.
    public static func sentence(for errno: Int32) -> String {
        var room = [CChar](repeating: 0, count: 128)
        linux_error_text(errno, &room, room.count)
        let text = String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
