import Authentication
import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// The party that asks, as far as it matters to those who carry a request out: a client on its connection, or the proxy
/// itself.
///
/// Belongs to its loop.
public final class Requester {
    public let upstreams: Upstreams
    /// Those of the loop, which each request asks for several times.
    public let loop: EventLoop
    public let shared: SharedState
    public let metrics: Metrics
    public let address: IPAddress
    /// Request bodies come from it, and responses go to it.
    public let stream: ByteStream
    public let presence = ClientPresence()
    /// The connections that this client is logged in on, with a credential that is not everybody's.
    public let logins = HeldConnections(limit: HeldConnections.ofClient)
    /// The tunnel that the requests come through, which says whom they are for. Nil where each says so itself.
    public var tunnel: InterceptedTunnel?
    /// How the client shows that it has left.
    public var sign = Departure.reset
    /// The observer that carries requests on by the events of their channels; nil while a task does, and at its end.
    public var observer: (any ChannelObserver)?
    /// The logins of the connection that the request in hand is sent on: at the origin, and at a parent.
    private var originLogin: ConnectionLogin?
    private var parentLogin: ConnectionLogin?
    /// The user who asked last, where each request says so itself.
    private var lastUser: String?

    public init(_ stream: ByteStream, at address: IPAddress, over upstreams: Upstreams) {
        self.upstreams = upstreams
        loop = upstreams.loop
        shared = upstreams.shared
        metrics = upstreams.metrics
        self.address = address
        self.stream = stream
    }

    /// The proxy itself, for a request of its own: rules that speak of clients see one at 127.0.0.1. Its maker ends it by
    /// `closeOwn`.
    public convenience init(ofOwn upstreams: Upstreams) throws(IOError) {
        let stream = ByteStream(try BlockingSocket.pair(on: upstreams.loop).loop)
        self.init(stream, at: IPAddress(v4: 0x7F00_0001), over: upstreams)
    }

    public func closeOwn() {
        stream.close()
        logins.closeAll()
    }

    /// The wake-up of the tasks that carry the requests out.
    public var wakeup: Wakeup { presence.wakeup }

    /// Where its requests for that scheme, host, in any case, and port go by that policy.
    public func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by policy: Policy) -> Destination {
        upstreams.destination(scheme, host: host, port: port, by: policy.rules)
    }

    /// From now on the events of that connection carry the request on, or wake the task that does.
    public func hear(_ upstream: ByteStream) {
        if let observer { return upstream.rest(telling: observer) }
        upstream.forgetObserver()
        upstream.wakeup = wakeup
    }

    /// Whether the client knows that it speaks to a proxy.
    public var isProxy: Bool { tunnel == nil }

    /// The request in hand is that user's. A connection may bring those of several, as when another proxy stands before
    /// this one, and none of them is to go out where another has logged in without a rule.
    public func isUsed(by user: String) {
        if let lastUser, !lastUser.utf8.elementsEqual(user.utf8) { logins.closeOwn() }
        lastUser = user
    }

    // MARK: - Connections with a login

    /// The connection on which exactly these versions of credentials are logged in: the client's own, or one that serves all
    /// clients.
    public func takeLogin(_ wanted: HeldConnections.Wanted) -> OriginConnection? {
        var connection = logins.isEmpty ? nil : logins.take(wanted)
        if connection == nil, wanted.isOfCredential { connection = upstreams.logins.take(wanted) }
        originLogin = connection?.login
        parentLogin = connection?.parentLogin
        return connection
    }

    /// Whether there may be one for `takeLogin`.
    public var mayHoldLogins: Bool { !logins.isEmpty || !upstreams.logins.isEmpty }

    /// Whether there is one.
    public func holdsLogin(_ version: CredentialVersion, to server: UpstreamServer) -> Bool {
        logins.holds(version, to: server) || upstreams.logins.holds(version, to: server)
    }

    /// Keeps the connection for a later request of those that it may serve, or closes it.
    ///
    /// - Parameter limit: milliseconds until it is closed unused.
    public func keep(_ connection: OriginConnection, for limit: Int) {
        (connection.isShared ? upstreams.logins : logins).keep(connection, for: limit)
    }

    /// From now on the request in hand depends on the login.
    public func begin(_ login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { originLogin = login }
    }

    /// The request in hand is over.
    public func forgetLogins() {
        originLogin.forget()
        parentLogin.forget()
    }

    /// Closes the client's connections that have had their time. One that serves a request at this moment closes after it.
    public func retire(_ retirement: Retirement) {
        logins.retire(retirement)
        guard case .logins(let name, let version) = retirement else { return }
        for login in [originLogin, parentLogin] where login?.isOf(name, but: version) == true { login?.retire() }
    }

    /// - Parameter trace: of the request that it is for.
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
        /// Nothing: its bytes are a tunnel's, or its answer is complete.
        case none
        /// That its connection is gone. What it ends in order is found by reading.
        case reset
        /// Also that it ends its side, since its request is there. Some tools do so and read on: those that speak HTTP/1.0, or
        /// say that this is their last request.
        case end
    }
}

/// Whether a session's client is still there, and what ends when it is not: the task that carries its request out, with
/// every wait of that task.
///
/// A request that is judged for all goes on until it is judged, though not for long. A server counts a wrong password whether
/// or not anybody reads its answer: if each client that leaves early sent it again, the account would be locked. And of a login
/// that begins a session at the server there is one for all who wait.
///
/// Belongs to its loop.
public final class ClientPresence {
    /// The wake-up of the session's tasks.
    public let wakeup = Wakeup()
    public private(set) var hasLeft = false
    private var task: Task<Void, Never>?
    /// The leases and attempts of a request whose answer is on its way, at the origin or at a parent. They end with the verdict.
    private weak var trial: AnyObject?
    private weak var laterTrial: AnyObject?
    /// Whether the others who wait are served by what this request does, and not only by what it learns.
    private var isLoggingIn = false
    private var alarm: Alarm?

    /// Whether nothing of the client's request is continued.
    public var isOver: Bool { wakeup.isCancelled }

    /// Whether the request is to go on, for its client or for others.
    public var isWanted: Bool { !isOver && (!hasLeft || trial != nil || laterTrial != nil) }

    /// The session's request is carried out by this task.
    public func begin(_ task: Task<Void, Never>) {
        self.task = task
        isLoggingIn = false
    }

    /// The task is done. What it was made of need not outlive it.
    public func finish() { task = nil }

    /// The request sends an answer that decides for all who wait.
    public func beginTrial(_ trial: AnyObject) {
        if self.trial == nil || self.trial === trial { self.trial = trial } else { laterTrial = trial }
    }

    /// The request begins a session at the server, for all who wait for one.
    public func beginLogin(_ lease: Lease) {
        beginTrial(lease)
        isLoggingIn = true
    }

    /// The client has left.
    ///
    /// - Parameter limit: milliseconds until the verdict, where one is awaited.
    public func leave(awaitingVerdict limit: Int, on loop: EventLoop) {
        guard !hasLeft else { return }
        hasLeft = true
        guard isWanted else { return end() }
        if !isLoggingIn {
            // The next may try; what this one learns counts all the same.
            for trial in [trial, laterTrial] {
                (trial as? Lease)?.release()
                (trial as? Attempt)?.handOver()
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
