/// Why a coded body could not be decoded. Peer's fault, but for `noMemory`.
public enum InflationError: Error, Equatable, CustomStringConvertible {
    /// The bytes are not what the coding allows, or a checksum or length differs.
    case malformed
    /// Something other than padding with zeros follows the end.
    case trailingBytes
    /// The body ended before its coding did.
    case truncated
    /// The decoded body is more than `limit` times as long as the coded one.
    case ratioExceeded(limit: Int)
    /// zlib could not allocate its window.
    case noMemory

    public var description: String {
        switch self {
        case .malformed: "the body is not in the content coding that its header names"
        case .trailingBytes: "bytes follow the end of the coded body"
        case .truncated: "the coded body ends too early"
        case .ratioExceeded(let limit): "the body expands to more than \(limit) times its size"
        case .noMemory: "there is no memory to decode the body"
        }
    }
}
