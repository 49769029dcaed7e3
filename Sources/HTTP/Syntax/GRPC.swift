import Bytes

/// The parts of gRPC over HTTP/2 that the proxy reads and writes. A call is a POST request. A server that refuses it at once
/// sends a response of one HEADERS frame with status 200, which has the code of the refusal: *trailers-only*.
public enum GRPC {
    /// The codes of `grpc-status` that the proxy uses.
    public enum Code: Int, Sendable {
        case ok = 0
        case unknown = 2
        case deadlineExceeded = 4
        case permissionDenied = 7
        case resourceExhausted = 8
        case unavailable = 14
        case unauthenticated = 16

        /// Reads the code; nil for one that the proxy does not use, and for other text.
        public init?(_ text: Span<UInt8>) {
            guard text.count <= 2, let number = GRPC.number(text) else { return nil }
            self.init(rawValue: number)
        }
    }

    /// The type of the responses that the proxy makes.
    public static let mediaType: StaticString = "application/grpc"

    /// Whether that value of `Content-Type` means gRPC, with any encoding of its messages.
    public static func isMediaType(_ value: Span<UInt8>) -> Bool {
        let length = mediaType.utf8CodeUnitCount
        return value.count >= length && value.extracting(first: length).equalsIgnoringCase(mediaType)
    }

    /// Reads `grpc-timeout`, rounded up to milliseconds; nil if it is no time. It has at most eight digits, and a unit.
    public static func timeout(_ value: Span<UInt8>) -> Milliseconds? {
        guard (2...9).contains(value.count), let number = number(value.extracting(first: value.count - 1)) else {
            return nil
        }
        switch value[value.count - 1] {
        case UInt8(ascii: "H"): return .hours(number)
        case UInt8(ascii: "M"): return .minutes(number)
        case UInt8(ascii: "S"): return .seconds(number)
        case UInt8(ascii: "m"): return Milliseconds(number)
        case UInt8(ascii: "u"): return Milliseconds((number + 999) / 1000)
        case UInt8(ascii: "n"): return Milliseconds((number + 999_999) / 1_000_000)
        default: return nil
        }
    }

    /// The number that digits write; nil for other text, and for more than eight digits.
    private static func number(_ digits: Span<UInt8>) -> Int? {
        guard (1...8).contains(digits.count) else { return nil }
        var number = 0
        for place in digits.indices {
            guard digits[place].isDigit else { return nil }
            number = number &* 10 &+ Int(digits[place] &- 0x30)
        }
        return number
    }
}
