import Bytes
import DNS
import IO
import Model
import Rules
import TLS
import Transport

/// Asks a server for its certificate, and judges it as the proxy would. The server gets a greeting and nothing else.
public struct TrustProbe: Sendable {
    /// The reason why no certificate of a server was received.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        case unknownHost(Resolution.Failure)
        case unreachable(host: String, port: UInt16, IOError)
        case noTLS(host: String, port: UInt16, HandshakeError)
        /// The revocation lists that a route names for the host cannot be used.
        case noRevocationLists(host: String)

        public var description: String {
            switch self {
            case .unknownHost(let error): "\(error)"
            case .unreachable(let host, let port, .system(let errno, _)):
                "cannot connect to \(host) port \(port): \(IOError.sentence(for: errno))"
            case .unreachable(let host, let port, let error): "cannot connect to \(host) port \(port): \(error)"
            case .noTLS(let host, let port, let error): "\(host) port \(port) showed no certificate: \(error)"
            case .noRevocationLists(let host): "the revocation lists that a route names for \(host) cannot be read"
            }
        }
    }

    private let host: String
    private let port: UInt16
    private let name: String?
    private let rules: RuleSet
    private let trust: TrustSources
    private let exceptions: [TrustException]

    /// The time for the connection, and again for the handshake.
    private static let limit: Milliseconds = 10_000

    /// - Parameters:
    ///   - host: lower case; an address without brackets.
    ///   - name: the name to search in the certificate; nil: the host.
    ///   - trust: refreshed, with the system's CA certificates read.
    ///   - exceptions: the stored exceptions for the server.
    public init(
        host: String, port: UInt16, name: String? = nil, rules: RuleSet, trust: TrustSources,
        exceptions: [TrustException]
    ) {
        self.exceptions = exceptions
        self.host = host
        self.port = port
        self.name = name
        self.rules = rules
        self.trust = trust
    }

    /// Egress rules do not apply: the user of the command could connect without the proxy.
    public func ask(at now: WallTime, on loop: EventLoop) async throws(Failure) -> TrustOpinion {
        let stream = try await connect(on: loop)
        defer { stream.close() }
        let wakeup = Wakeup()
        stream.wakeup = wakeup
        let context = try context()
        var chain: PresentedChain?
        do throws(HandshakeError) {
            try await stream.handshake(as: context, to: ServerName(host), within: Self.limit) { presented in
                chain = presented
                return nil
            }
        } catch {
            guard chain != nil else { throw .noTLS(host: host, port: port, error) }
        }
        guard let chain else { throw .noTLS(host: host, port: port, .tls(.trustRefused)) }
        return try opinion(of: chain, at: now)
    }

    private func connect(on loop: EventLoop) async throws(Failure) -> ByteStream {
        let resolution: Resolution
        do throws(Resolution.Failure) {
            resolution = try await Resolver(on: loop).resolve(host)
        } catch { throw .unknownHost(error) }
        do throws(IOError) {
            return try await Connector.connect(
                to: resolution, port: port, within: Self.limit, on: loop, wakeup: Wakeup()
            ) { _ in true }
        } catch { throw .unreachable(host: host, port: port, error) }
    }

    private var route: RouteDecision { rules.route(host: host.utf8Span.span, port: port) }

    private func context() throws(Failure) -> ClientTLSContext {
        do throws(TLSError) {
            return try .shared(for: ClientTLSContext.Settings(route.tls))
        } catch { throw .noTLS(host: host, port: port, .tls(error)) }
    }

    /// Judges a chain that the server has sent before.
    public func opinion(of chain: PresentedChain, at now: WallTime) throws(Failure) -> TrustOpinion {
        let lists: RevocationLists?
        do throws(TrustSources.UnreadLists) { lists = try trust.revocation(for: route.tls) } catch {
            throw .noRevocationLists(host: host)
        }
        func evaluate(_ terms: Configuration.TrustTerms?) -> TrustEvaluation {
            TrustEvaluation.of(
                chain, for: terms?.name.map { ServerName(ofRule: $0) } ?? ServerName(name ?? host),
                anchors: trust.anchors(for: terms),
                revocation: lists, at: now)
        }
        let today = Day(of: now)
        let standard = evaluate(nil)
        var onTerms: TrustEvaluation?
        let decide = { (exceptions: [TrustException]) in
            ServerTrustDecision { terms in
                guard let terms else { return standard }
                let evaluation = evaluate(terms)
                onTerms = evaluation
                return evaluation
            } exceptions: {
                exceptions.holding(on: today)
            } ask: { findings in
                rules.decide(
                    .serverTrust(
                        host: host, port: port, client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001)),
                        findings: findings, today: today))
            }
        }
        let decision = decide(exceptions)
        let excepted = decide([TrustException(pin: chain.leaf.publicKeyPin, until: today)])
        var suggestion = SuggestedTrustRule(
            host: host, port: port, findings: standard.provenKinds, pin: chain.leaf.publicKeyPin, today: today,
            name: name)
        suggestion.title = rules.configuration.freeRuleName(suggestion.title)
        return TrustOpinion(
            chain: chain, evaluation: standard, evaluationOnTerms: onTerms, decision: decision,
            wouldBeExcepted: excepted.isException, suggestion: suggestion)
    }
}

extension ClientTLSContext.Settings {
    /// The settings for origins of a route; nil: of a route without terms for TLS.
    /// - Parameter offersHTTP2: whether the server may choose HTTP/2, which needs TLS 1.2.
    init(_ terms: Configuration.TLSTerms?, offersHTTP2: Bool = false) {
        let versions = terms?.versions ?? Configuration.TLSTerms.defaultVersions
        let mayOffer = offersHTTP2 && versions.lowerBound >= .v12
        self.init(
            minimum: versions.lowerBound, maximum: versions.upperBound,
            applicationProtocols: mayOffer ? ["h2", "http/1.1"] : ["http/1.1"])
    }
}
