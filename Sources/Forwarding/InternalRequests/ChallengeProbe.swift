import Authentication
import Bytes
import Challenges
import Credentials
import DNS
import HTTP
import IO
import Model
import PAC
import Rules
import Synchronization
import TLS
import Telemetry
import Upstream

/// Sends a server a request as a client would: by the same route, under the same egress rules, with the same trust in
/// certificates. It sends no credential, to see the challenge, or a credential that is to be tried.
public struct ChallengeProbe: Sendable {
    /// A response, as far as it asks for a login.
    public struct Response: Sendable {
        public let status: Int
        /// Whether a parent proxy sent the response.
        public let isOfParent: Bool
        /// The values of the challenge fields.
        public let lines: [String]
        /// The number of times that a credential was sent.
        public let attempts: Int
        /// The name of the credential that answered the origin; nil: none did.
        public var credential: String?
        /// Whether the origin asked for a client certificate in this connection.
        public var wantsCertificate = false
        /// The value of `Location`.
        public var location: String?
        public var contentType: String?
        /// The reason why a challenge was not answered; nil if it was, or the proxy has no reason.
        public var details: String?
        /// The first 512 KiB of an HTML page, decoded; nil for other content, or if it was not asked for.
        public var page: [UInt8]?
    }

    /// Why there is no response.
    public struct Failure: Error {
        public enum Cause: Sendable {
            /// `egress` does not allow the address.
            case prohibited
            /// The certificate of the server, or of the parent proxy, is not trusted.
            case untrusted(Origin, PresentedChain)
            /// The server ended the TLS connection because no client certificate was shown, or because it refuses the one
            /// that was.
            case certificateWanted
            case other
        }

        /// The reason, for a person.
        public let sentence: String
        public var cause = Cause.other
    }

    /// A request without a body.
    public struct Request: Sendable {
        public let method: String
        /// The URL, without user and password.
        public let url: String
        public let scheme: Scheme
        public let host: String
        public let port: UInt16
        /// Whether to read the response's page.
        public var readsPage = false

        public init(method: String, url: String, scheme: Scheme, host: String, port: UInt16) {
            self.method = method
            self.url = url
            self.scheme = scheme
            self.host = host
            self.port = port
        }
    }

    private let policy: Policy
    private let exceptions: [TrustException]
    private let purpose: Forwarding.Purpose

    /// The time limit: a person is waiting.
    private static let patience = Milliseconds.seconds(30)

    /// - Parameters:
    ///   - trust: refreshed, with the system's anchors read.
    ///   - automaticParents: as `Policy`.
    ///   - credentials: the rules' credentials, refreshed; nil: none is sent.
    ///   - exceptions: those that are stored for keys of the server.
    public init(
        _ configuration: Configuration, trust: TrustSources, automaticParents: [String: PACFile],
        trying credentials: ConfiguredCredentials? = nil, exceptions: [TrustException] = []
    ) {
        self.exceptions = exceptions
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

    /// Reads the metadata of a server that announces its tokens (RFC 9728); nil if it has none. Sends no credential.
    ///
    /// - Parameters:
    ///   - announced: the value of `resource_metadata` in the challenge.
    ///   - target: the target of the request.
    ///   - request: the request that was challenged.
    public func metadata(
        of origin: Origin, announced: String?, for target: [UInt8], besides request: Request, on loop: EventLoop
    ) async -> Result<ResourceMetadata?, TokenError> {
        let upstreams = await upstreams(for: request, on: loop)
        let discovery = Discovery(
            state: upstreams.shared.challenges, loop: loop,
            fetcher: InternalRequests.tokens(over: upstreams, by: policy))
        do throws(TokenError) {
            return .success(try await discovery.metadata(on: origin, announced: announced, for: target))
        } catch { return .failure(error) }
    }

    private func response(to request: Request, on loop: EventLoop) async throws(Failure) -> Response {
        let upstreams = await upstreams(for: request, on: loop)
        let downstream: Downstream
        do throws(IOError) { downstream = try Downstream(ofOwn: upstreams) } catch {
            throw Failure(sentence: "\(error)")
        }
        let untrusted = UntrustedChains()
        upstreams.shared.onUntrusted { untrusted.add($0, $1) }
        let run = Forwarding(policy: policy, on: loop)
        let exchange = run.exchange
        defer {
            run.dissolve(into: loop.buffers)
            downstream.closeOwn()
        }
        try write(request, to: exchange)
        let destination = upstreams.destination(
            request.scheme, host: request.host.utf8Span.span, port: request.port, by: policy.rules)
        if destination.isProhibited {
            throw Failure(sentence: "the rules of this proxy do not let it connect to \(request.host)")
        }
        do throws(ExchangeFailure) {
            try await run.ask(destination, for: downstream, purpose: purpose)
        } catch {
            // A parent's challenge without an answer is a refusal for the client.
            if exchange.isChallengedByParent {
                return Self.response(exchange, isOfParent: true)
            }
            if let response = Self.tunnelResponse(error, on: exchange, upstreams.shared) { return response }
            throw Self.failure(error, on: exchange.way, untrusted: untrusted.last)
        }
        var response = Self.response(exchange, isOfParent: false)
        if request.readsPage { response.page = await page(of: exchange) }
        return response
    }

    private static func failure(
        _ error: ExchangeFailure, on way: UpstreamPath, untrusted: (Origin, PresentedChain)?
    ) -> Failure {
        var failure = Failure(sentence: error.sentence(by: way))
        switch error {
        case .refused(let refusal):
            switch refusal.error {
            case .destinationIPProhibited: failure.cause = .prohibited
            case .tlsCertificateError:
                if let untrusted { failure.cause = .untrusted(untrusted.0, untrusted.1) }
            case .tlsAlertReceived where refusal.isAboutIdentity: failure.cause = .certificateWanted
            default: break
            }
        case .upstreamFailed(.insecure(.identityWanted)): failure.cause = .certificateWanted
        default: break
        }
        return failure
    }

    /// A parent's challenge to CONNECT, whose response is gone: as the journal has it. Nil: the failure is another one.
    private static func tunnelResponse(
        _ error: ExchangeFailure, on exchange: Exchange, _ shared: SharedState
    ) -> Response? {
        guard case .refused(let refusal) = error, exchange.way.parent != nil, let status = refusal.receivedStatus,
            status == .proxyAuthenticationRequired || status == .unauthorized
        else { return nil }
        let entries = shared.challenges.journal.entries.filter { $0.key.space.isProxy }
        guard let latest = entries.max(by: { $0.last < $1.last }) else { return nil }
        return Response(
            status: Int(status.rawValue), isOfParent: true, lines: latest.lines,
            attempts: exchange.record.facts.attempts)
    }

    private static func response(_ exchange: Exchange, isOfParent: Bool) -> Response {
        let upstream = exchange.upstream
        var response = Response(
            status: Int(upstream.head.status.rawValue), isOfParent: isOfParent,
            lines: upstream.values(in: isOfParent ? .proxy : .origin), attempts: exchange.record.facts.attempts)
        response.credential = exchange.record.facts.answer?.credential
        response.wantsCertificate = upstream.peerSecurity?.hasAskedForIdentity ?? false
        response.location = upstream.values(of: .location).first
        response.contentType = upstream.values(of: .contentType).first
        response.details = exchange.record.facts.details
        return response
    }

    /// The chains that were refused during a request.
    private final class UntrustedChains: Sendable {
        private let chains = Mutex<[(Origin, PresentedChain)]>([])

        var last: (Origin, PresentedChain)? { chains.withLock { $0.last } }

        func add(_ origin: Origin, _ chain: PresentedChain) { chains.withLock { $0.append((origin, chain)) } }
    }

    /// Nil where the content is no HTML page, or cannot be read.
    private func page(of exchange: Exchange) async -> [UInt8]? {
        let upstream = exchange.upstream
        let type = upstream.values(of: .contentType).first?.lowercased() ?? ""
        guard type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml"),
            let reader = PageReader(upstream, holding: nil, policy: policy)
        else { return nil }
        _ = try? await reader.read(upTo: LoginExchange.pageLimit) { _, _ in false }
        let page = reader.page
        return page.readable.array
    }

    private func upstreams(for request: Request, on loop: EventLoop) async -> Upstreams {
        let network = SystemNetwork(Resolver(on: loop), on: loop)
        // Nothing else is stored there.
        let storage = StoredCredentials()
        let space = ProtectionSpace(trustOf: request.host, port: request.port)
        for exception in exceptions {
            let credential = Credential(name: space.credentialName(of: "\(exception.pin)"), trust: exception)
            try? await storage.set(credential, for: space)
        }
        let shared = SharedState(storage: storage) { _ in }
        return Upstreams(policy: policy, shared: shared, on: loop, in: network, idleLimit: 1)
    }

    /// Writes the request in HTTP/1.0, so that the server sends no interim responses.
    private func write(_ request: Request, to exchange: Exchange) throws(Failure) {
        let host = request.host.utf8.contains(.colon) ? "[\(request.host)]" : request.host
        let head = exchange.headBytes
        head.append("\(request.method) \(request.url) HTTP/1.0\r\nHost: \(host):\(request.port)\r\n\r\n")
        do throws(HTTPError) { try exchange.beginOwn() } catch { throw Failure(sentence: "\(error)") }
    }
}
