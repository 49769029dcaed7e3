import Authentication
import Bytes
import Challenges
import Credentials
import DNS
import HTTP
import IO
import PAC
import Rules
import TLS
import Telemetry
import Upstream

/// Asks a server as a client's request would, by the same route, under the same egress rules and with the same trust in its
/// certificate: without any credential, for the challenge that such a request meets, or with one that is tried.
public struct ChallengeProbe: Sendable {
    /// A response, as far as it challenges.
    public struct Response: Sendable {
        public let status: Int
        /// Whether a parent proxy gave it.
        public let isOfParent: Bool
        /// The values of the fields that challenge.
        public let lines: [String]
        /// How many times a credential was sent.
        public let attempts: Int
    }

    /// Why there is no response: a sentence.
    public struct Failure: Error {
        public let sentence: String
    }

    /// A request without a body.
    public struct Request: Sendable {
        public let method: String
        /// Without user and password.
        public let url: String
        public let scheme: Scheme
        public let host: String
        public let port: UInt16

        public init(method: String, url: String, scheme: Scheme, host: String, port: UInt16) {
            self.method = method
            self.url = url
            self.scheme = scheme
            self.host = host
            self.port = port
        }
    }

    private let policy: Policy
    private let purpose: Forwarding.Purpose

    /// A person waits for it.
    private static let patience = Duration.seconds(30)

    /// - Parameters:
    ///   - trust: refreshed, with the system's anchors read.
    ///   - automaticParents: as `Policy`.
    ///   - credentials: the rules' credentials, refreshed; nil: none is sent.
    public init(
        _ configuration: Configuration, trust: TrustSources, automaticParents: [String: PACFile],
        trying credentials: ConfiguredCredentials? = nil
    ) {
        var configuration = credentials == nil ? configuration.withoutCredentials : configuration
        configuration.timeouts.response = min(configuration.timeouts.response, Self.patience)
        policy = Policy(
            rules: RuleSet(configuration),
            credentials: credentials ?? ConfiguredCredentials([], environment: [:]), trust: trust,
            automaticParents: automaticParents)
        purpose = credentials == nil ? .own : .trial
    }

    public func ask(_ request: Request, on loop: EventLoop) async -> Result<Response, Failure> {
        do throws(Failure) { return .success(try await response(to: request, on: loop)) } catch {
            return .failure(error)
        }
    }

    private func response(to request: Request, on loop: EventLoop) async throws(Failure) -> Response {
        let upstreams = upstreams(on: loop)
        let requester: Requester
        do throws(IOError) { requester = try Requester(ofOwn: upstreams) } catch { throw Failure(sentence: "\(error)") }
        let run = Forwarding(policy: policy, on: loop)
        let exchange = run.exchange
        defer {
            run.dissolve(into: loop.buffers)
            requester.closeOwn()
        }
        try write(request, to: exchange)
        let destination = upstreams.destination(
            request.scheme, host: request.host.utf8Span.span, port: request.port, by: policy.rules)
        if destination.isProhibited {
            throw Failure(sentence: "the rules of this proxy do not let it connect to \(request.host)")
        }
        do throws(ExchangeFailure) {
            try await run.ask(destination, for: requester, purpose: purpose)
        } catch {
            // A parent's challenge, which nobody has answered, is a refusal for the client.
            if exchange.isChallengedByParent {
                return Self.response(exchange, isOfParent: true)
            }
            throw Self.failure(error, on: exchange.way)
        }
        return Self.response(exchange, isOfParent: false)
    }

    private static func failure(_ error: ExchangeFailure, on way: Way) -> Failure {
        if case .refused(let refusal) = error, let parent = way.parent, let status = refusal.receivedStatus,
            status == .proxyAuthenticationRequired || status == .unauthorized
        {
            return Failure(
                sentence: "\(parent.origin.title) asks for a login for the tunnel, and none is sent here; its "
                    + "\(status.rawValue) is explained by --challenge 'Proxy-Authenticate: …'")
        }
        return Failure(sentence: error.sentence(by: way))
    }

    private static func response(_ exchange: Exchange, isOfParent: Bool) -> Response {
        Response(
            status: Int(exchange.upstream.head.status.rawValue), isOfParent: isOfParent,
            lines: exchange.upstream.values(in: isOfParent ? .proxy : .origin),
            attempts: exchange.record.attempts)
    }

    private func upstreams(on loop: EventLoop) -> Upstreams {
        let network = SystemNetwork(Resolver(on: loop), on: loop)
        // Nothing is stored there.
        let shared = SharedState(storage: StoredCredentials()) { _ in }
        return Upstreams(policy: policy, shared: shared, on: loop, in: network, idleLimit: 1)
    }

    /// In HTTP/1.0, so that interim responses stay here.
    private func write(_ request: Request, to exchange: Exchange) throws(Failure) {
        let host = request.host.utf8.contains(.colon) ? "[\(request.host)]" : request.host
        let head = exchange.headBytes
        head.append("\(request.method) \(request.url) HTTP/1.0\r\nHost: \(host):\(request.port)\r\n\r\n")
        do throws(HTTPError) {
            guard case .complete = try exchange.request.parse(head.readable) else {
                throw HTTPError(.client, .incomplete)
            }
        } catch { throw Failure(sentence: "\(error)") }
        exchange.body.begin(exchange.request.framing, limits: policy.limits.request)
    }
}
