import Bytes

/// The `Connection` field of a head we write; what HTTP/1.1 means without one needs no line.
public enum ConnectionLine: UInt8, Sendable {
    case none
    case close
    /// For HTTP/1.0 clients.
    case keepAlive
    /// With the `Upgrade` lines of the original.
    case upgrade

    func append(to writer: borrowing HeadWriter) {
        switch self {
        case .none: break
        case .close: writer.buffer.append(literal: "Connection: close\r\n")
        case .keepAlive: writer.buffer.append(literal: "Connection: keep-alive\r\n")
        case .upgrade: writer.buffer.append(literal: "Connection: Upgrade\r\n")
        }
    }
}
