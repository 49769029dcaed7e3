import Bytes
import HTTP

/// The end of a body in the text that is made of a message.
enum ReceivedFraming: Equatable {
    case none
    /// The bytes of the body follow as they are.
    case length
    case chunked
    /// The bytes of a tunnel follow.
    case raw
}

/// The fields of HEADERS as lines of HTTP/1.1, within limits. Nothing is repaired: what could change the text's meaning is a
/// defect.
final class ReceivedFields {
    private let limits: Limits
    private var count = 0
    /// The size of the list as RFC 9113 section 6.5.2 counts it.
    private(set) var size = 0
    /// The first defect.
    private(set) var defect: Defect?
    let lines = ByteBuffer(capacity: 512)
    /// Whether there is a `content-length`.
    private(set) var hasContentLength = false
    /// The value of `content-length` as it came.
    private let length = ByteBuffer(capacity: 32)
    /// Whether the content is gRPC's, whose trailers must pass even if it has a length.
    private(set) var isGRPC = false

    /// The largest capacity of an empty buffer that is kept for the next list, in bytes.
    static let keptCapacity = 4096

    init(limits: Limits) { self.limits = limits }

    /// Prepares for the next list.
    func reset() {
        (count, size, defect, hasContentLength, isGRPC) = (0, 0, nil, false, false)
        lines.clear()
        length.clear()
        if lines.capacity > Self.keptCapacity { lines.shrink() }
        if length.capacity > Self.keptCapacity { length.shrink() }
    }

    /// Whether the list is so much larger than allowed that its connection should end.
    var isExcessive: Bool { size > 4 &* limits.head }

    func note(_ defect: Defect) { if self.defect == nil { self.defect = defect } }

    /// Counts a field.
    /// - Parameter isContinuation: whether it becomes a part of another field's line.
    func count(_ name: Span<UInt8>, _ value: Span<UInt8>, isContinuation: Bool = false) {
        size = size &+ name.count &+ value.count &+ 32
        if !isContinuation { count &+= 1 }
        if size > limits.head { note(.headTooLarge(limit: limits.head)) }
        if count > limits.fields { note(.tooManyFields(limit: limits.fields)) }
    }

    /// Checks a field that is no pseudo-field.
    /// - Returns: whether it has no defect.
    func check(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        if !Self.isName(name) { note(.malformedFieldName) }
        if !Self.isValue(value) { note(.controlCharacter) }
        if Self.belongsToConnection(name) { note(.connectionSpecificField) }
        return defect == nil
    }

    /// Adds a field that was checked. The length of the content is kept apart.
    func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        switch name.count {
        case 14 where name.equals("content-length" as StaticString):
            if hasContentLength { note(.repeatedContentLength) }
            hasContentLength = true
            return length.append(value)
        case 12 where name.equals("content-type" as StaticString): isGRPC = GRPC.isMediaType(value)
        default: break
        }
        Self.append(name, value, to: lines)
    }

    /// Appends the `content-length` that the peer sent.
    func appendLength(to text: ByteBuffer) {
        guard hasContentLength else { return }
        let length = length
        Self.append("content-length".utf8Span.span, length.readable, to: text)
    }

    /// The value of `content-length`, in bytes; nil if it is absent or no number.
    var contentLength: Int? {
        let length = length
        return try? BodyFraming.length(length.readable, in: 0..<length.count)
    }

    static func append(_ name: Span<UInt8>, _ value: Span<UInt8>, to buffer: ByteBuffer) {
        buffer.append(name)
        buffer.append(": " as StaticString)
        buffer.append(value)
        buffer.appendLineEnd()
    }

    /// Whether the field belongs to a connection of HTTP/1.1, as `FieldSet.outsideHTTP2` has them. Few names have these
    /// lengths, so that comparing is cheaper than recognising each name.
    private static func belongsToConnection(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 7: name.equals("upgrade")
        case 10: name.equals("connection") || name.equals("keep-alive")
        case 16: name.equals("proxy-connection")
        case 17: name.equals("transfer-encoding")
        default: false
        }
    }

    /// Whether it is a token without capitals (RFC 9113 section 8.2.1).
    static func isName(_ name: Span<UInt8>) -> Bool {
        !name.isEmpty && name.endOfLowercaseToken(in: name.indices) == name.count
    }

    /// Whether no control character but a tab is in the value, and no blank at either end (RFC 9113 section 8.2.1).
    static func isValue(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty else { return true }
        return !value[0].isBlank && !value[value.count - 1].isBlank && value.firstControl(from: 0) == value.count
    }
}
