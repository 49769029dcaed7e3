import Bytes
import HTTP

/// Text with `\r\n` where the source has a line break, for heads that read as they are written.
func crlf(_ text: String) -> [UInt8] {
    Array(text.replacing("\n", with: "\r\n").utf8)
}

extension Via {
    /// The tests' own; a literal token.
    static var test: Via {
        guard let via = Via(pseudonym: "attache") else { preconditionFailure("the pseudonym is a token") }
        return via
    }
}

/// The final result of a parser, and the bytes it did not take.
enum Outcome: Equatable {
    case needsMore
    case complete(length: Int)
    case refused(Defect)

    init(_ parse: () throws(HTTPError) -> HeadProgress) {
        do throws(HTTPError) {
            self =
                switch try parse() {
                case .needsMore: .needsMore
                case .complete(let length): .complete(length: length)
                }
        } catch { self = .refused(error.defect) }
    }
}

extension RequestHead {
    func outcome(_ bytes: [UInt8]) -> Outcome { outcome(ByteBuffer(bytes)) }

    func outcome(_ buffer: ByteBuffer) -> Outcome {
        Outcome { () throws(HTTPError) in try parse(buffer) }
    }

    /// Shows the bytes one at a time.
    func outcomeByteByByte(_ bytes: [UInt8]) -> Outcome { outcomeByteByByte(bytes, in: ByteBuffer([])) }

    func outcomeByteByByte(_ bytes: [UInt8], in buffer: ByteBuffer) -> Outcome {
        for byte in bytes {
            let outcome = outcome(buffer)
            if outcome != .needsMore { return outcome }
            buffer.append(byte)
        }
        return outcome(buffer)
    }

    func text(_ range: Range<Int>?, _ bytes: [UInt8]) -> String? {
        range.map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}

extension ResponseHead {
    func outcome(_ bytes: [UInt8], answering method: HTTP.Method = .get) -> Outcome {
        outcome(ByteBuffer(bytes), answering: method)
    }

    func outcome(_ buffer: ByteBuffer, answering method: HTTP.Method = .get) -> Outcome {
        Outcome { () throws(HTTPError) in try parse(buffer, answering: method) }
    }

    func outcomeByteByByte(_ bytes: [UInt8], answering method: HTTP.Method = .get) -> Outcome {
        outcomeByteByByte(bytes, in: ByteBuffer([]), answering: method)
    }

    func outcomeByteByByte(
        _ bytes: [UInt8], in buffer: ByteBuffer, answering method: HTTP.Method = .get
    ) -> Outcome {
        for byte in bytes {
            let outcome = outcome(buffer, answering: method)
            if outcome != .needsMore { return outcome }
            buffer.append(byte)
        }
        return outcome(buffer, answering: method)
    }
}

extension ByteBuffer {
    convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        append(bytes)
    }
}
