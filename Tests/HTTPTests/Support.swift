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

/// What a parser said at last, and the bytes it left alone.
enum Outcome: Equatable {
    case needsMore
    case complete(length: Int)
    case refused(Defect)
}

extension RequestHead {
    func outcome(_ bytes: [UInt8]) -> Outcome {
        do throws(HTTPError) {
            return switch try parse(bytes.span) {
            case .needsMore: .needsMore
            case .complete(let length): .complete(length: length)
            }
        } catch {
            return .refused(error.defect)
        }
    }

    /// Shows the bytes one at a time.
    func outcomeByteByByte(_ bytes: [UInt8]) -> Outcome {
        for count in 0..<bytes.count {
            let outcome = outcome(Array(bytes[..<count]))
            if outcome != .needsMore { return outcome }
        }
        return outcome(bytes)
    }

    func text(_ range: Range<Int>?, _ bytes: [UInt8]) -> String? {
        range.map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}

extension ResponseHead {
    func outcome(_ bytes: [UInt8], answering method: HTTP.Method = .get) -> Outcome {
        do throws(HTTPError) {
            return switch try parse(bytes.span, answering: method) {
            case .needsMore: .needsMore
            case .complete(let length): .complete(length: length)
            }
        } catch {
            return .refused(error.defect)
        }
    }

    func outcomeByteByByte(_ bytes: [UInt8], answering method: HTTP.Method = .get) -> Outcome {
        for count in 0..<bytes.count {
            let outcome = outcome(Array(bytes[..<count]), answering: method)
            if outcome != .needsMore { return outcome }
        }
        return outcome(bytes, answering: method)
    }
}
