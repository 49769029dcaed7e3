import Bytes
import IO
import TLS

/// An ordered stream of bytes in both directions, which every layer above reads and writes.
///
/// Its bytes are the socket's until `handshake` or `accept` has put TLS between, and more than once where there is TLS
/// inside TLS. Belongs to its loop. One task at a time uses it, and lends it the wake-up on which that task waits.
public final class ByteStream {
    /// The socket underneath. Its bytes are the stream's only while the stream `isPlain`.
    public let socket: Socket
    /// The TLS connection whose plain bytes are the stream's: the innermost, if there are several.
    public private(set) var tls: TLSConnection?
    /// The TLS connections that carry the innermost one, outermost first.
    private var carriers: [TLSConnection] = []

    public init(_ socket: Socket) { self.socket = socket }

    /// Takes ownership of an accepted descriptor.
    public convenience init(takingOwnership descriptor: Int32, on loop: EventLoop) throws(IOError) {
        self.init(try Socket(takingOwnership: descriptor, on: loop))
    }

    public var peerAddress: SocketAddress? { socket.peerAddress }
    public var localAddress: SocketAddress? { socket.localAddress }

    /// The task that uses the stream; nil while it rests in a pool.
    public var wakeup: Wakeup? {
        get { socket.wakeup }
        set { socket.wakeup = newValue }
    }

    /// From now on no task waits for the stream: its news is for the observer alone.
    public func rest(telling observer: any ChannelObserver) { socket.rest(telling: observer) }

    /// From now on nobody hears of its events, but the task that may wait for it.
    public func forgetObserver() { socket.observer = nil }

    public var isClosed: Bool { socket.isClosed }

    /// Whether the socket's bytes are the stream's, so that the kernel may move them.
    public var isPlain: Bool { tls == nil }

    /// Something has come, or the peer has ended: for a stream at rest, the sign not to use it again.
    ///
    /// Of TLS, what it has to say to itself is taken in, and does not count: a connection in a pool outlives a new session
    /// ticket if whoever observes the socket asks this.
    public var isReadable: Bool { isPlain ? socket.isReadable : tls?.isReadable ?? false }

    /// As `isReadable`, and certain: where the last read left open whether more is there, the system is asked.
    public func hasInput() -> Bool { isPlain ? socket.hasInput() : isReadable }

    /// Whether the peer has ended its side, and all that it sent before was read. Of TLS, what has come is taken in.
    public func isAtEnd() -> Bool { isPlain ? socket.isAtEnd() : tls?.isAtEnd ?? false }

    /// The time until the stream fails with `timedOut`; every call replaces the one before.
    public func setDeadline(after milliseconds: Int?) {
        socket.clearTimeout()
        socket.setDeadline(after: milliseconds)
    }

    public func tryRead(into buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        guard let tls else { return socket.tryRead(into: buffer, limit: limit) }
        return Transfer(tls.read(into: buffer, limit: limit))
    }

    /// Writes from the front of `buffer`, and consumes what was taken. With TLS, what was refused must be offered again
    /// before anything else.
    public func tryWrite(from buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        guard let tls else { return socket.tryWrite(from: buffer, limit: limit) }
        return Transfer(tls.write(from: buffer, limit: limit))
    }

    /// Whether TLS may read more from the socket than the next record (`TLSConnection.readsAhead`).
    func readsAhead(_ isAllowed: Bool) { tls?.readsAhead = isAllowed }

    /// The number of refused bytes, from the first one on, that TLS has made a record of and keeps itself.
    var owed: Int { tls?.owed ?? 0 }

    /// Writes the bytes that are `owed`, which the caller has no more.
    func tryWriteOwed() -> Transfer { tls.map { Transfer($0.writeOwed()) } ?? .moved(0) }

    /// Reads at least one byte; 0 is the peer's end.
    public func read(into buffer: ByteBuffer) async throws(IOError) -> Int {
        if isPlain { return try await socket.read(into: buffer) }
        while true {
            if let count = try readOnce(into: buffer) { return count }
            await socket.waitForEvent()
        }
    }

    /// Reads what has come: nil is nothing.
    private func readOnce(into buffer: ByteBuffer) throws(IOError) -> Int? {
        while true {
            try check()
            switch tryRead(into: buffer) {
            case .moved(0): continue
            case .moved(let count): return count
            case .endOfStream: return 0
            case .failed(let errno): throw failure(errno, "cannot read")
            case .wouldBlock: return nil
            }
        }
    }

    /// Writes all that `buffer` holds in one call, which is the common case; false when some of it is left.
    public func writeAtOnce(_ buffer: ByteBuffer) -> Bool {
        if case .moved = tryWrite(from: buffer), buffer.isEmpty { return true }
        return buffer.isEmpty
    }

    /// Writes all that `buffer` holds.
    public func write(from buffer: ByteBuffer) async throws(IOError) {
        if isPlain { return try await socket.write(from: buffer) }
        while !buffer.isEmpty {
            try check()
            switch tryWrite(from: buffer) {
            case .moved, .endOfStream: continue
            case .failed(let errno): throw failure(errno, "cannot write")
            case .wouldBlock: await socket.waitForEvent()
            }
        }
    }

    /// Reads at least one byte, unless `other`, which has the same wake-up, becomes readable first.
    /// - Parameter idle: milliseconds in which a byte must come.
    /// - Returns: the count; 0 is the peer's end, nil the other's turn.
    public func read(
        into buffer: ByteBuffer, unless other: ByteStream?, idle: Int
    ) async throws(IOError) -> Int? {
        setDeadline(after: idle)
        while true {
            if let count = try readOnce(into: buffer) { return count }
            if let other, other.isReadable { return nil }
            await socket.waitForEvent()
        }
    }

    /// Writes the first `count` bytes that `buffer` holds, and consumes them, unless the peer has something to say
    /// while it takes none.
    /// - Parameter idle: milliseconds in which the peer must take a byte, should it not take them at once.
    /// - Returns: whether all were written; false when the peer has something to say.
    public func write(_ count: Int, from buffer: ByteBuffer, idle: Int) async throws(IOError) -> Bool {
        var rest = count
        // The wait of the deadline is over.
        setDeadline(after: nil)
        while rest > 0 {
            try check()
            switch tryWrite(from: buffer, limit: rest) {
            case .moved(let moved): rest -= moved
            case .endOfStream: continue
            case .failed(let errno): throw failure(errno, "cannot write")
            case .wouldBlock:
                if isReadable { return false }
                setDeadline(after: idle)
                await socket.waitForEvent()
            }
        }
        return true
    }

    /// Waits, holding no buffer, until there is something to read: bytes or the peer's end.
    public func untilReadable() async throws(IOError) {
        if isPlain { return try await socket.untilReadable() }
        while true {
            try check()
            if isReadable { return }
            await socket.waitForEvent()
        }
    }

    /// Throws when the deadline has passed or the stream was closed.
    public func check() throws(IOError) { try socket.check() }

    /// The meaning of an `errno` of a read or write: with TLS an end that was not announced is one that came too
    /// early. More about TLS says `tls.failure`.
    public func failure(_ errno: Int32, _ operation: String) -> IOError {
        if let tls, tls.failure == .truncated { return .endOfStream }
        return .system(errno: errno, operation: operation)
    }

    // MARK: - Layers and ends

    /// The transport of a further TLS connection.
    var carrier: any RecordTransport { tls ?? socket }

    /// From here on the stream's bytes are those of the connection, which runs over `carrier`.
    func push(_ connection: TLSConnection) {
        if let tls { carriers.append(tls) }
        tls = connection
    }

    /// Says to the peer that nothing more will come from here: within TLS, if there is TLS.
    public func shutdownWrite() {
        guard let tls else { return socket.shutdownWrite() }
        tls.shutdownWrite()
    }

    public func close() {
        if let tls, !socket.isClosed {
            tls.shutdownWrite()
            for carrier in carriers.reversed() { carrier.shutdownWrite() }
        }
        socket.close()
    }

    /// Ends the stream so that the peer sees a fault, not an end: a cut-off message must not look whole.
    public func abort() {
        socket.resetOnClose()
        socket.close()
    }
}

extension ByteStream {
    /// Puts TLS between, as the client: from here on the stream's bytes are what goes through it.
    ///
    /// - Parameters:
    ///   - name: the server that is meant; sent to it unless it is an address.
    ///   - sessions: where a session may be found and new ones are left.
    ///   - chooseIdentity: called whenever the server wants a certificate, also later, with the issuers that it accepts;
    ///     never before the server is trusted. Nil declines. It must not keep the stream.
    ///   - limit: milliseconds for the server's part; anew after each decision.
    ///   - judge: decides about the server's chain; it may take its time, and nil refuses. Not called for a session
    ///     that is resumed, which carries its trust with it (`tls.serverTrust`).
    /// - Throws: why there is no TLS. The stream is then good for nothing but to be closed.
    public func handshake(
        as client: ClientTLSContext, to name: ServerName, sessions: (any SessionSlot)? = nil,
        chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil, within limit: Int,
        trusting judge: (PresentedChain) async -> ServerTrust?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(
                client: client, to: name, over: carrier, sessions: sessions, chooseIdentity: chooseIdentity)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: HandshakeStep) in
            guard case .serverTrust(let chain) = question else { return }
            if let trust = await judge(chain) { connection.trust(trust) } else { connection.refuseTrust() }
        }
    }

    /// Puts TLS between, as the server.
    ///
    /// - Parameters:
    ///   - earlier: bytes of the client that were read from the stream to look at them; emptied.
    ///   - limit: milliseconds for the client's part; anew after the identity was found.
    ///   - identity: chooses the certificate for a client that wants this name, or says none; nil refuses. It may take
    ///     its time. Not called for a client that comes back.
    /// - Throws: why there is no TLS. The stream is then good for nothing but to be closed.
    public func accept(
        as server: ServerTLSContext, after earlier: ByteBuffer? = nil, within limit: Int,
        identity: (_ serverName: String?) async -> Identity?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(server: server, over: carrier, after: earlier)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: HandshakeStep) in
            guard case .serverIdentity(let name) = question else { return }
            if let identity = await identity(name) {
                connection.setIdentity(identity)
            } else {
                connection.refuseIdentity()
            }
        }
    }

    private func shake(
        _ connection: TLSConnection, within limit: Int, answering answer: (HandshakeStep) async -> Void
    ) async throws(HandshakeError) {
        setDeadline(after: limit)
        while true {
            do throws(IOError) { try check() } catch { throw .connection(error) }
            let step: HandshakeStep
            do throws(TLSError) { step = try connection.handshake() } catch { throw HandshakeError(error) }
            switch step {
            case .done: return push(connection)
            case .wouldBlock: await socket.waitForEvent()
            case .serverTrust, .serverIdentity:
                // The peer is not to blame for the time that the answer takes.
                setDeadline(after: nil)
                await answer(step)
                setDeadline(after: limit)
            }
        }
    }
}

/// Why there is no TLS on a stream.
public enum HandshakeError: Error, Equatable, Sendable {
    /// The connection underneath stopped, or the time limit passed.
    case connection(IOError)
    case tls(TLSError)

    init(_ error: TLSError) {
        self =
            if case .transport(let errno) = error {
                .connection(.system(errno: errno, operation: "cannot talk TLS"))
            } else {
                .tls(error)
            }
    }
}

extension HandshakeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connection(let error): "\(error)"
        case .tls(let error): "\(error)"
        }
    }
}
