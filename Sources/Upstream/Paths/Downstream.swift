import Authentication
import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// The party that makes requests, as far as the code that carries them out needs it: a client on its connection, or the
/// proxy itself.
///
/// Belongs to its loop.
public final class Downstream {
    public let upstreams: Upstreams
    /// The loop of `upstreams`. Stored, since each request uses it several times.
    public let loop: EventLoop
    public let shared: SharedState
    public let metrics: Metrics
    /// The client's address; nil at a unix socket.
    public let address: IPAddress?
    /// The client's stream. Request bodies come from it, and responses are written to it.
    public let stream: ByteStream
    public let presence = ClientPresence()
    /// The connections on which this client is logged in, with a credential that not every client shares.
    public let logins: AuthenticatedConnections
    /// Whether the stream is one of an HTTP/2 connection, for one request.
    public var isMultiplexed: Bool
    /// The tunnel that the requests come through, which names their server. Nil if each request names it.
    public var tunnel: InterceptedTunnel?
    /// The sign that shows that the client has left.
    public var sign = Departure.reset
    /// The observer that advances requests by the events of their channels; nil while a task does, and at its end.
    public var observer: (any Channel.Observer)?
    /// The login of the origin's connection that carries the current request. `parentLogin` is the one at a parent.
    private var originLogin: ConnectionLogin?
    private var parentLogin: ConnectionLogin?
    /// The user of the last request, if each request names its user.
    private var lastUser: String?

    /// - Parameter connection: the client on the HTTP/2 connection that carries the stream; nil for a connection of its own.
    public init(
        _ stream: ByteStream, at address: IPAddress?, over upstreams: Upstreams, carriedBy connection: Downstream? = nil
    ) {
        logins = connection?.logins ?? AuthenticatedConnections(limit: AuthenticatedConnections.ofClient)
        isMultiplexed = connection != nil
        tunnel = connection?.tunnel
        self.upstreams = upstreams
        loop = upstreams.loop
        shared = upstreams.shared
        metrics = upstreams.metrics
        self.address = address
        self.stream = stream
    }

    /// Creates the downstream side of internal requests. Rules that depend on clients see a client at 127.0.0.1. The caller
    /// ends it by `closeOwn`.
    public convenience init(ofOwn upstreams: Upstreams) throws(IOError) {
        let stream = ByteStream(try BlockingSocket.pair(on: upstreams.loop).loop)
        self.init(stream, at: IPAddress(v4: 0x7F00_0001), over: upstreams)
    }

    public func closeOwn() {
        stream.close()
        logins.closeAll()
    }

    /// The wake-up of the tasks that carry out the requests.
    public var wakeup: Wakeup { presence.wakeup }

    /// Makes the events of that connection advance the request, or wake its task.
    public func hear(_ upstream: ByteStream) {
        if let observer { return upstream.rest(telling: observer) }
        upstream.forgetObserver()
        upstream.wakeup = wakeup
    }

    /// Whether the client knows that it uses a proxy.
    public var isProxy: Bool { tunnel == nil }

    /// Notes the user of the current request. A connection may carry requests of several users, for instance from
    /// another proxy. No request may use a connection on which another user logged in without a rule.
    public func isUsed(by user: String) {
        if let lastUser, !lastUser.utf8.elementsEqual(user.utf8) { logins.closeOwn() }
        lastUser = user
    }

    // MARK: - Connections with a login

    /// Takes a kept connection on which exactly these versions of credentials are logged in: the client's own, or one
    /// that serves all clients.
    ///
    /// - Parameters:
    ///   - version: the version of our credential that is logged in at the origin; nil if none.
    ///   - parentVersion: the version of our credential that is logged in at the parent; nil if none.
    public func takeLogin(
        to origin: UpstreamServer, through peer: UpstreamServer, _ version: CredentialVersion?,
        atParent parentVersion: CredentialVersion?, under terms: ConnectionTerms
    ) -> OriginConnection? {
        let wanted = AuthenticatedConnections.Wanted(
            peer: peer, origin: origin, version: version, parentVersion: parentVersion, terms: terms)
        var connection = logins.isEmpty ? nil : logins.take(wanted)
        if connection == nil, version != nil || parentVersion != nil { connection = upstreams.logins.take(wanted) }
        originLogin = connection?.login
        parentLogin = connection?.parentLogin
        return connection
    }

    /// Whether `takeLogin` could find a connection.
    public var mayHoldLogins: Bool { !logins.isEmpty || !upstreams.logins.isEmpty }

    /// Whether a connection with this login is kept.
    public func holdsLogin(_ version: CredentialVersion, to server: UpstreamServer) -> Bool {
        logins.holds(version, to: server) || upstreams.logins.holds(version, to: server)
    }

    /// Keeps the connection for a later request that may use it, or closes it.
    ///
    /// - Parameter limit: the time until an unused connection is closed.
    public func keep(_ connection: OriginConnection, for limit: Milliseconds) {
        (connection.isShared ? upstreams.logins : logins).keep(connection, for: limit)
    }

    /// Notes that the current request depends on the login.
    public func begin(_ login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { originLogin = login }
    }

    /// Forgets the logins when the current request is over.
    public func forgetLogins() {
        originLogin.forget()
        parentLogin.forget()
    }

    /// Closes the client's connections that the retirement names. One that serves a request now closes after it.
    public func retire(_ retirement: Retirement) {
        logins.retire(retirement)
        guard case .logins(let name, let version) = retirement else { return }
        for login in [originLogin, parentLogin] where login?.isOf(name, but: version) == true { login?.retire() }
    }

    /// - Parameter trace: the trace of the request that needs the connection.
    public func dialer(for policy: Policy, in trace: RequestTrace? = nil) -> Dialer {
        Dialer(
            network: upstreams.network, policy: policy, own: shared.ownListeners, loop: loop, wakeup: wakeup,
            metrics: metrics, trace: trace)
    }

    /// Writes all of `buffer` to the client.
    public func write(_ buffer: ByteBuffer) async throws(ExchangeFailure) {
        if stream.writeAtOnce(buffer) { return }
        stream.setDeadline(after: upstreams.policy.timeouts.idle)
        do throws(IOError) { try await stream.write(from: buffer) } catch { throw .clientLost }
    }

    // MARK: - A client that leaves

    /// The signs that the client has left.
    public enum Departure {
        /// No sign counts: its bytes belong to a tunnel, or its response is complete.
        case none
        /// The connection was reset. An orderly close is noticed when reading.
        case reset
        /// The client closed its side, or the connection was reset. Some tools close their side and still read: those
        /// that speak HTTP/1.0, or say that this is their last request.
        case end
    }

    /// Whether a session's client is still connected. When it has left, the task of its request and all waits of that
    /// task end.
    ///
    /// If other requests wait for the verdict on this request's answer, it continues until the verdict, for a limited
    /// time. A server counts a wrong password whether or not a client reads the answer. If each client that leaves
    /// early sent the password again, the account would be locked. A login that begins a session at the server also
    /// serves all requests that wait.
    ///
    /// Belongs to its loop.
    public final class ClientPresence {
        /// The wake-up of the session's tasks.
        public let wakeup = Wakeup()
        public private(set) var hasLeft = false
        private var task: Task<Void, Never>?
        /// The lease or attempt of an answer whose verdict is awaited, at the origin or at a parent. It ends with the
        /// verdict.
        private weak var trial: AnyObject?
        private weak var laterTrial: AnyObject?
        /// Whether this request logs in for the others that wait, so that its end would leave them without a session.
        private var isLoggingIn = false
        private var alarm: Alarm?

        /// Whether the request was given up.
        public var isOver: Bool { wakeup.isCancelled }

        /// Whether the request continues, for its client or for others.
        public var isWanted: Bool { !isOver && (!hasLeft || trial != nil || laterTrial != nil) }

        /// Sets the task that carries out the session's request.
        public func begin(_ task: Task<Void, Never>) {
            self.task = task
            isLoggingIn = false
        }

        /// Forgets the finished task, so that its memory is freed.
        public func finish() { task = nil }

        /// Notes that the request sends an answer whose verdict others wait for.
        public func beginTrial(_ trial: AnyObject) {
            if self.trial == nil || self.trial === trial { self.trial = trial } else { laterTrial = trial }
        }

        /// Notes that the request begins a session at the server, for all that wait for one.
        public func beginLogin(_ lease: FlightLease) {
            beginTrial(lease)
            isLoggingIn = true
        }

        /// Handles the client's departure.
        ///
        /// - Parameter limit: the time until a pending verdict must have come.
        public func leave(awaitingVerdict limit: Milliseconds, on loop: EventLoop) {
            guard !hasLeft else { return }
            hasLeft = true
            guard isWanted else { return end() }
            if !isLoggingIn {
                // The next request may try. The verdict on this one counts nevertheless.
                for trial in [trial, laterTrial] {
                    (trial as? FlightLease)?.release()
                    (trial as? Evidence.Attempt)?.handOver()
                }
            }
            let alarm = Alarm(on: loop) { [unowned self] in end() }
            alarm.set(after: limit)
            self.alarm = alarm
        }

        private func end() {
            wakeup.cancel()
            task?.cancel()
        }
    }
}
