import Authentication
import Bytes
import HTTP
import IO
import Model
import Rules
import Transport

/// A server to which this loop forwards with one scheme, with its idle connections. A parent proxy is one too, for
/// requests that it makes itself and for its challenges.
///
/// Belongs to its loop. An idle connection with any event is closed at once: bytes that arrive between responses cannot
/// answer the next request.
public final class UpstreamServer: Channel.Observer {
    /// `http`, `https` or `ftp`.
    public let scheme: Scheme
    /// The host in its canonical spelling (`HostSpelling`).
    public let host: [UInt8]
    public let hostText: String
    public let port: UInt16
    /// The server as authentication sees it.
    public let authority: Origin
    /// The server's name in texts for the client.
    public let title: String
    private let mayHaveCredentials: Bool
    private var idle: [OriginConnection] = []
    /// The rules for which the next three values were computed, and the number of `TLSPolicyEpoch` at that time.
    private var judge: RuleSet?
    private var judged = 0
    private var dependsOnClient = false
    private var namesLogin = false
    private var maySeeIdentity = false
    private var hasException = false
    /// The time until which requests do not wait for `100 Continue` from this server.
    private var ignoresExpectationUntil = LoopInstant.zero

    private var sharing: SharedConnections?

    /// The limit of the server's idle connections. It is above the number of requests that a few clients of HTTP/2 have run at
    /// the same time, so that the next ones find their connections.
    private static let idleLimit = 1024
    /// The time for which a missing `100 Continue` is remembered.
    private static let expectationMemory: Milliseconds = 600_000
    let pool: IdlePool

    convenience init(scheme: Scheme, host: Span<UInt8>, port: UInt16, pool: IdlePool) {
        let spoken: NetworkProtocol =
            switch scheme {
            case .https: .https
            case .ftp: .ftp
            case .http, .other: .http
            }
        self.init(Origin(host: host.text, port: port, protocol: spoken), pool: pool)
    }

    /// - Parameters:
    ///   - title: the server's name in texts for the client.
    ///   - mayHaveCredentials: false for a parent that only a PAC file names, unless the rule file trusts it.
    init(
        _ authority: Origin, title: String = "the origin", mayHaveCredentials: Bool = true,
        pool: IdlePool
    ) {
        self.mayHaveCredentials = mayHaveCredentials
        self.pool = pool
        self.title = title
        self.authority = authority
        scheme =
            switch authority.protocol {
            case .https: .https
            case .ftp: .ftp
            case .http, .socks: .http
            }
        hostText = authority.host
        host = Array(hostText.utf8)
        port = authority.port
    }

    public var isSecure: Bool { scheme == .https }
    public var isIPv6: Bool { hostText.utf8.contains(.colon) }
    /// Whether the server is a parent proxy.
    public var isProxy: Bool { authority.isProxy }

    /// Whether a rule about this origin's trust, or about a certificate for it, depends on the client.
    public func dependsOnClient(by rules: RuleSet) -> Bool {
        if judge !== rules { bring(before: rules) }
        return dependsOnClient
    }

    /// Whether any rule, or the store, could show this origin a certificate.
    public func maySeeIdentity(by rules: RuleSet) -> Bool {
        guard isSecure else { return false }
        if judge !== rules || judged != pool.tlsPolicyEpoch.number { bring(before: rules) }
        return maySeeIdentity
    }

    /// Whether connections to the server depend on `TLSPolicyEpoch`.
    public func dependsOnTLSPolicy(by rules: RuleSet) -> Bool { maySeeIdentity(by: rules) || hasException }

    /// Whether a rule answers this server by NTLM or Negotiate, whose logins belong to a connection.
    public func namesLogin(by rules: RuleSet) -> Bool {
        if judge !== rules { bring(before: rules) }
        return namesLogin
    }

    private func bring(before rules: RuleSet) {
        let (host, isProxy) = (host, isProxy)
        namesLogin = rules.namesLogin(host: host.span, port: port, isProxy: isProxy)
        dependsOnClient = isSecure && rules.trustDependsOnClient(host: host.span, port: port, isProxy: isProxy)
        // Read before the store, so that a change meanwhile counts as a later one.
        judged = pool.tlsPolicyEpoch.number
        maySeeIdentity =
            mayHaveCredentials && isSecure
            && (rules.speaksOfClientCertificates(host: host.span, port: port, isProxy: isProxy)
                || pool.tlsPolicyEpoch.holdsIdentity(for: authority))
        hasException = isSecure && pool.tlsPolicyEpoch.holdsException(for: authority)
        judge = rules
    }

    /// Whether the server is known to ignore `Expect: 100-continue`.
    public func ignoresExpectation(at now: LoopInstant) -> Bool { now < ignoresExpectationUntil }

    /// Notes that a request waited for `100 Continue` and got none. For ten minutes no request waits; the server may
    /// change then.
    public func ignoredExpectation(at now: LoopInstant) { ignoresExpectationUntil = now + Self.expectationMemory }

    /// Notes that the server sent `100 Continue`.
    public func heardExpectation() { ignoresExpectationUntil = .zero }

    /// Whether the server has this scheme, host (in any spelling) and port.
    func isServer(_ scheme: Scheme, host name: Span<UInt8>, port: UInt16) -> Bool {
        guard port == self.port, scheme == self.scheme else { return false }
        let host = host
        return name.isSpelling(of: host.span)
    }

    /// Whether the server has idle or shared connections.
    var holdsConnections: Bool { !idle.isEmpty || sharing?.isEmpty == false }

    /// Whether the server may have HTTP/2 connections.
    public var mayShare: Bool { sharing != nil }

    /// The HTTP/2 connections with the server.
    public var streams: SharedConnections {
        if let sharing { return sharing }
        let made = SharedConnections(in: pool, named: hostText, isSecure: isSecure, isLimited: !isProxy)
        sharing = made
        return made
    }

    /// Takes the connection under these terms that was used last, since the server has least likely closed it. It has
    /// no observer until the caller sets one.
    public func takeIdle(under terms: ConnectionTerms) -> OriginConnection? {
        while let connection = removeLast(under: terms) {
            pool.leave(connection)
            connection.stream.forgetObserver()
            if connection.isStillTrusted { return connection }
            connection.stream.close()
        }
        return nil
    }

    private func removeLast(under terms: ConnectionTerms) -> OriginConnection? {
        if !idle.isEmpty, idle[idle.count - 1].terms === terms { return idle.removeLast() }
        return idle.lastIndex { $0.terms == terms }.map { idle.remove(at: $0) }
    }

    /// Keeps a connection whose response was read completely. If there are too many, closes the oldest.
    /// - Parameter limit: the time until an unused connection is closed.
    public func keep(_ connection: OriginConnection, for limit: Milliseconds) {
        connection.stream.rest(telling: self)
        // A connection with a login is never kept where all clients search.
        let isUsable = !connection.stream.isClosed && !connection.stream.hasInput() && !connection.isLoggedIn
        guard isUsable, connection.peer === self, connection.mayBeKept, pool.isCurrent(connection.terms) else {
            return connection.stream.close()
        }
        if idle.count >= Self.idleLimit { close(at: 0) }
        pool.enter(connection)
        connection.stream.setDeadline(after: limit)
        idle.append(connection)
    }

    public func channelChanged(_ channel: Channel) {
        // A larger send window is no reason to close.
        guard channel.isReadable || !channel.isOpen else { return }
        guard let index = idle.firstIndex(where: { $0.stream.channel === channel }) else { return }
        // New session tickets are no reason to close.
        if channel.isOpen, !idle[index].stream.isReadable { return }
        close(at: index)
    }

    private func close(at index: Int) {
        let connection = idle.remove(at: index)
        pool.leave(connection)
        connection.stream.forgetObserver()
        connection.stream.close()
    }
}
