import Authentication
import Bytes
import Credentials
import Crypto
import IO
import Model
import Telemetry
import Upstream

/// A collector that the rule file names, and the sending of spans to it: OTLP over HTTP, in JSON
/// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
public final class SpanCollector: Sendable {
    /// The result of one try.
    enum Outcome {
        /// - Parameters:
        ///   - rejected: the number of spans that the collector rejected.
        ///   - reason: the collector's own text about that.
        case taken(rejected: Int, reason: String?)
        /// - Parameter pause: the time until the next try; nil if the sender chooses.
        case again(String, pause: Milliseconds?)
        case refused(String)
    }

    let endpoint: HTTPEndpoint
    /// The percentage of the traces begun here that is recorded.
    public let sample: Int
    private let fields: [SecretField]
    private let service: String
    private let version: String

    /// - Parameters:
    ///   - service: the name of this program at the collector.
    ///   - version: the version of the program.
    public init(_ endpoint: HTTPEndpoint, sample: Int, fields: [SecretField], service: String, version: String) {
        self.endpoint = endpoint
        self.sample = sample
        self.fields = fields
        self.service = service
        self.version = version
    }

    /// - Parameter spans: the spans written by `SpanEncoder`.
    func send(_ spans: ByteBuffer, over upstreams: Upstreams, by policy: Policy) async -> Outcome {
        let fields = fields
        let read = await BlockingPool.shared.run { () -> Result<[(name: String, value: Secret)], CredentialError> in
            do throws(CredentialError) {
                var values: [(name: String, value: Secret)] = []
                for field in fields { values.append((field.name, try field.read())) }
                return .success(values)
            } catch { return .failure(error) }
        }
        let secrets: [(name: String, value: Secret)]
        switch read {
        case .success(let values): secrets = values
        // The file may be there the next time.
        case .failure(let error): return .again("\(error)", pause: nil)
        }
        if let bad = secrets.first(where: { $0.value.withBytes { $0.firstControl(from: 0) < $0.count } }) {
            return .refused("the value of \(bad.name) has a control character in it")
        }
        let (head, tail) = (ByteBuffer(capacity: 512), ByteBuffer(capacity: 16))
        SpanEncoder.begin(service: service, version: version, in: head)
        SpanEncoder.end(in: tail)
        do throws(InternalFetch.Failure) {
            let response = try await InternalFetch(upstreams: upstreams, policy: policy, endpoint: endpoint).send(
                fields: { lines in
                    lines.append("Content-Type: application/json\r\nUser-Agent: attache/\(version)\r\n")
                    for (name, value) in secrets {
                        lines.append(name)
                        lines.append(": ")
                        value.withBytes { lines.append($0) }
                        lines.append("\r\n")
                    }
                },
                content: (
                    length: head.count + spans.count + tail.count,
                    append: { content in
                        for part in [head, spans, tail] { content.append(part.readable) }
                    }
                ), reads: .contentIfWhole)
            return Self.outcome(of: response)
        } catch { return .again(error.sentence, pause: nil) }
    }

    private static func outcome(of response: InternalFetch.Response) -> Outcome {
        let reason = "it answers \(response.status)"
        return switch response.status {
        case 200..<300: partialSuccess(response.content)
        case 429, 502, 503, 504: .again(reason, pause: response.retryAfter.map { min($0, .hours(1)) })
        default: .refused(reason)
        }
    }

    /// Parses a partial success, see https://opentelemetry.io/docs/specs/otlp/#partial-success-1. The number is a text,
    /// as JSON writes 64-bit numbers.
    private static func partialSuccess(_ content: [UInt8]) -> Outcome {
        guard let told = JSONMembers(content)?.object("partialSuccess") else { return .taken(rejected: 0, reason: nil) }
        let rejected: Int? =
            switch told["rejectedSpans"] {
            case .text(let digits)?: Int(String(decoding: digits, as: UTF8.self))
            case .number(let number)?: Int(exactly: number)
            default: nil
            }
        let reason = told.text("errorMessage").map { String(decoding: $0.prefix(reasonLimit), as: UTF8.self) }
        return .taken(rejected: max(0, rejected ?? 0), reason: reason.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// The limit in bytes of a collector's text that is reported.
    private static let reasonLimit = 256
}
