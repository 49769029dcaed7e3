import Bytes

/// The position of an operation in a trace, which programs exchange in `traceparent`: W3C Trace Context, level 1
/// (https://www.w3.org/TR/trace-context-1/, section 3.2).
public struct TraceContext: Sendable, Hashable {
    /// An id of 16 bytes, at least one of them not 0.
    public struct TraceID: Sendable, Hashable {
        let high: UInt64
        let low: UInt64

        init?(high: UInt64, low: UInt64) {
            guard high | low != 0 else { return nil }
            (self.high, self.low) = (high, low)
        }

        /// Makes a unique id.
        static func random() -> TraceID {
            // Level 2 requires the last seven bytes to be random. Here all are, and neither half is 0.
            TraceID(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max)) ?? random()
        }
    }

    /// An id of 8 bytes, at least one of them not 0.
    public struct SpanID: Sendable, Hashable {
        let value: UInt64

        init?(_ value: UInt64) {
            guard value != 0 else { return nil }
            self.value = value
        }

        static func random() -> SpanID { SpanID(.random(in: 1 ... .max)) ?? random() }
    }

    public let trace: TraceID
    /// The span of the calling operation.
    public let span: SpanID
    /// Whether the caller may have recorded the trace. All other flags are dropped, as level 1 requires for unknown
    /// flags.
    public let isSampled: Bool

    init(trace: TraceID, span: SpanID, isSampled: Bool) {
        (self.trace, self.span, self.isSampled) = (trace, span, isSampled)
    }

    /// Parses a field's value. For a higher version, the known parts are read (section 4.3).
    ///
    /// Nil for an invalid value: letters in upper case, an id of zeros, version `ff`, or more parts than its version
    /// has.
    public init?(_ value: Span<UInt8>) {
        guard value.count >= Self.length, value[2] == Self.dash, value[35] == Self.dash, value[52] == Self.dash,
            let version = Self.number(value, 0..<2), version != 0xFF,
            let high = Self.number(value, 3..<19), let low = Self.number(value, 19..<35),
            let trace = TraceID(high: high, low: low),
            let span = Self.number(value, 36..<52).flatMap(SpanID.init), let flags = Self.number(value, 53..<55)
        else { return nil }
        if value.count > Self.length, version == 0 || value[Self.length] != Self.dash { return nil }
        self.init(trace: trace, span: span, isSampled: flags & 1 != 0)
    }

    /// Appends the context in version 00, the highest supported one.
    public func append(to buffer: ByteBuffer) {
        buffer.append("00-")
        buffer.append(trace)
        buffer.append(Self.dash)
        buffer.append(span)
        buffer.append(isSampled ? "-01" : "-00")
    }

    /// Reads a number in lower-case hexadecimal, of up to 16 digits.
    private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for offset in range {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte & 0xF)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - 0x57)
            default: return nil
            }
        }
        return number
    }

    /// The length of a value in version 00.
    private static let length = 55
    private static let dash = UInt8(ascii: "-")
}

extension ByteBuffer {
    /// Appends 32 digits.
    func append(_ id: TraceContext.TraceID) {
        append(sixteenDigits: id.high)
        append(sixteenDigits: id.low)
    }

    /// Appends 16 digits.
    func append(_ id: TraceContext.SpanID) { append(sixteenDigits: id.value) }

    private func append(sixteenDigits number: UInt64) {
        append(hexadecimal: Int(number >> 32), digits: 8)
        append(hexadecimal: Int(number & 0xFFFF_FFFF), digits: 8)
    }
}
