import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import IO
import Model
import Telemetry
import Upstream

/// Sends a challenge that waits for an operator to the server that the rule file names, signed as Standard Webhooks
/// are.
public struct QuestionWebhook: Sendable {
    private let endpoint: HTTPEndpoint
    private let key: WebhookKey

    /// The pauses before each retry.
    private static let pauses: [Milliseconds?] = [1000, 5000, nil]

    public init(_ endpoint: HTTPEndpoint, key: WebhookKey) {
        self.endpoint = endpoint
        self.key = key
    }

    /// Sends the question. Returns once it was taken, or is no longer open. Reports a failure.
    public func tell(_ question: OperatorQuestion, over upstreams: Upstreams, by policy: Policy) async {
        let (state, now) = (upstreams.shared.challenges, upstreams.loop.wallTime)
        let content = ByteBuffer(capacity: 1024)
        question.append(to: content, at: now)
        // The id is unique: the process has a name of its own, and numbers its questions.
        let id = "question-\(Self.process)-\(question.id)"
        for pause in Self.pauses {
            guard let trouble = await send(content, id, over: upstreams, by: policy) else { return }
            upstreams.shared.report("the webhook \(endpoint.authority) of 'ask' did not get a question: \(trouble)")
            guard let pause else { return }
            _ = await Expectation<Void>().value(within: pause)
            guard state.questions.open.contains(where: { $0.id == question.id }) else { return }
        }
    }

    private static let process = String(UInt64.random(in: .min ... .max), radix: 16)

    /// - Returns: the reason why the question was not taken; nil if it was.
    private func send(
        _ content: ByteBuffer, _ id: String, over upstreams: Upstreams, by policy: Policy
    ) async -> String? {
        let key = key
        let read = await BlockingPool.shared.run { () -> Result<MessageAuthenticationCode, CredentialError> in
            do throws(CredentialError) { return .success(try key.read()) } catch { return .failure(error) }
        }
        let code: MessageAuthenticationCode
        switch read {
        case .success(let made): code = made
        case .failure(let error): return "\(error)"
        }
        let time = upstreams.loop.wallTime.seconds
        var message = code.begin()
        message.update(utf8: "\(id).\(time).")
        message.update(content.readable)
        let signature = Base64.encode(code.code(of: message).array)
        let fetch = InternalFetch(upstreams: upstreams, policy: policy, endpoint: endpoint)
        do throws(InternalFetch.Failure) {
            let response = try await fetch.send(
                fields: { head in
                    head.append("Content-Type: application/json\r\nwebhook-id: \(id)\r\n")
                    head.append("webhook-timestamp: \(time)\r\nwebhook-signature: v1,\(signature)\r\n")
                }, content: (length: content.count, append: { $0.append(content.readable) }), reads: .status)
            return (200..<300).contains(response.status) ? nil : "it answers \(response.status)"
        } catch { return error.sentence }
    }
}

extension OperatorQuestion {
    /// Appends the question as a JSON object, without secrets.
    fileprivate func append(to buffer: ByteBuffer, at now: WallTime) {
        let line = LogLine(into: buffer, at: now)
        line.add(WebhookField.version, JSONFormat.version)
        line.add(WebhookField.type, "question")
        line.add(WebhookField.id, id)
        line.add(WebhookField.challenge, words)
        line.add(WebhookField.host, space.host)
        line.add(WebhookField.port, Int(space.port))
        line.add(WebhookField.protocol, space.protocol.rawValue)
        line.add(WebhookField.proxy, space.isProxy)
        line.add(WebhookField.realm, space.realm)
        line.add(WebhookField.method, space.authenticationMethod.rawValue)
        line.add(WebhookField.rule, rule)
        line.add(WebhookField.user, user)
        line.add(WebhookField.details, details.isEmpty ? nil : details.joined(separator: "; "))
        line.add(WebhookField.pin, pin.map { "\($0)" })
        line.add(WebhookField.client, clients.first)
        line.add(WebhookField.status, response?.status)
        line.add(WebhookField.fields, lines: response?.fields)
        line.add(WebhookField.text, response?.text, longest: ResponseExcerpt.textLimit)
        line.end()
    }
}
