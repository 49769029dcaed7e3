import Authentication
import Bytes
import HTTP
import IO
import Model
import Rules
import Transport

/// A server this loop forwards to by one scheme, with the connections to it that wait for their next request. A parent
/// proxy is one too: for what it is asked itself, and for who asks there.
///
/// Belongs to its loop. An idle connection on which anything happens is closed at once: whatever a server says between
/// responses, it is not the answer to our next request.
public final class UpstreamServer: ChannelObserver {
    /// `http`, `https` or `ftp`.
    public let scheme: Scheme
    /// In its canonical spelling (`HostSpelling`).
    public let host: [UInt8]
    public let hostText: String
    public let port: UInt16
    /// The same server as authentication knows it.
    public let authority: Origin
    /// Its name in answers to the client.
    public let title: String
    private let mayHaveCredentials: Bool
    private var idle: [OriginConnection] = []
    /// The rules that the next three were asked of, and the answers of TLS that there were then.
    private var judge: RuleSet?
    private var judged = 0
    private var dependsOnClient = false
    private var maySeeIdentity = false
    private var hasException = false
    /// Until when, on the loop's clock, nobody waits for its `100 Continue`.
    private var ignoresExpectationUntil: UInt64 = 0

    private static let idleLimit = 128
    /// Milliseconds.
    private static let expectationMemory: UInt64 = 600_000
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
    ///   - title: what the client is told that it is.
    ///   - mayHaveCredentials: false for one that nobody vouches for.
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
    /// Whether it is a parent proxy.
    public var isProxy: Bool { authority.isProxy }

    /// Whether a rule about this origin's trust, or about a certificate to show to it, speaks of clients.
    public func dependsOnClient(by rules: RuleSet) -> Bool {
        if judge !== rules { bring(before: rules) }
        return dependsOnClient
    }

    /// Whether any rule, or the store, could show this origin a certificate.
    public func maySeeIdentity(by rules: RuleSet) -> Bool {
        guard isSecure else { return false }
        if judge !== rules || judged != pool.tlsAnswers.number { bring(before: rules) }
        return maySeeIdentity
    }

    /// Whether connections to it depend on `TLSAnswers`.
    public func getsTLSAnswers(by rules: RuleSet) -> Bool { maySeeIdentity(by: rules) || hasException }

    private func bring(before rules: RuleSet) {
        let (host, isProxy) = (host, isProxy)
        dependsOnClient = isSecure && rules.trustDependsOnClient(host: host.span, port: port, isProxy: isProxy)
        // Taken before the store is looked at: a change meanwhile counts as one behind it.
        judged = pool.tlsAnswers.number
        maySeeIdentity =
            mayHaveCredentials && isSecure
            && (rules.speaksOfClientCertificates(host: host.span, port: port, isProxy: isProxy)
                || pool.tlsAnswers.holdsIdentity(for: authority))
        hasException = isSecure && pool.tlsAnswers.holdsException(for: authority)
        judge = rules
    }

    /// Whether it is known to say nothing to `Expect: 100-continue`.
    public func ignoresExpectation(at now: UInt64) -> Bool { now < ignoresExpectationUntil }

    /// It let a request wait for `100 Continue` in vain. For a while none does; then it may be another program.
    public func ignoredExpectation(at now: UInt64) { ignoresExpectationUntil = now &+ Self.expectationMemory }

    /// It said `100 Continue`.
    public func heardExpectation() { ignoresExpectationUntil = 0 }

    /// Whether that is the server, its host in any spelling.
    func isServer(_ scheme: Scheme, host name: Span<UInt8>, port: UInt16) -> Bool {
        guard port == self.port, scheme == self.scheme else { return false }
        let host = host
        return name.isSpelling(of: host.span)
    }

    /// Whether connections wait here for their next request.
    var holdsConnections: Bool { !idle.isEmpty }

    /// The connection made under these terms that was used last, since it is the least likely to have been closed
    /// meanwhile. Nobody hears of its events until the caller sees to it.
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

    /// Keeps a connection whose response was read to its end, in place of an older one where there are too many.
    /// - Parameter limit: milliseconds until it is closed unused.
    public func keep(_ connection: OriginConnection, for limit: Int) {
        connection.stream.rest(telling: self)
        // One that counts as somebody's rests nowhere where all look.
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
        // A new send window is no reason to part.
        guard channel.isReadable || !channel.isOpen else { return }
        guard let index = idle.firstIndex(where: { $0.stream.socket === channel }) else { return }
        // New session tickets are no sign of anything.
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
