import Bytes
import IO
import TLS

/// An ordered stream of bytes in both directions, for reading and writing in all higher layers.
///
/// A new stream carries the bytes of its base: a socket, or a stream of a shared connection. `handshake` and `accept` add
/// TLS, also several times, for TLS inside TLS.
/// Belongs to its loop. One task at a time uses it, and lends it the wake-up on which that task waits.
public final class ByteStream {
    /// The base, for events and deadlines.
    public let channel: Channel
    /// The base if it is a socket. Its bytes are the stream's only while the stream `isPlain`.
    public let socket: Socket?
    /// The base, as the carrier of the stream's bytes.
    private let base: any StreamBase
    /// The TLS connection whose plain bytes are the stream's: the innermost, if there are several.
    public private(set) var tls: TLSConnection?
    /// The TLS connections that carry the innermost one, outermost first.
    private var carriers: [TLSConnection] = []

    public init(_ socket: Socket) {
        channel = socket
        self.socket = socket
        base = socket
    }

    public init(_ stream: StreamChannel) {
        channel = stream
        socket = nil
        base = stream
    }

    /// Takes ownership of an accepted descriptor.
    public convenience init(takingOwnership descriptor: Int32, on loop: EventLoop) throws(IOError) {
        self.init(try Socket(takingOwnership: descriptor, on: loop))
    }

    public var peerAddress: SocketAddress? { socket?.peerAddress }
    public var localAddress: SocketAddress? { socket?.localAddress }

    /// The wake-up of the task that uses the stream; nil while it is idle in a pool.
    public var wakeup: Wakeup? {
        get { channel.wakeup }
        set { channel.wakeup = newValue }
    }

    /// Makes the stream idle: its events go to the observer only.
    public func rest(telling observer: consuming any Channel.Observer) { channel.rest(telling: observer) }

    /// Removes the observer. Only a task that waits for the stream gets its events.
    public func forgetObserver() { channel.observer = nil }

    public var isClosed: Bool { channel.isClosed }

    /// Whether a socket's bytes are the stream's, so that the kernel may move them.
    public var isPlain: Bool { tls == nil && socket != nil }

    /// Whether bytes have arrived, or the peer has closed: an idle stream must then not be used again.
    ///
    /// Messages of TLS itself are processed and do not count. So a connection in a pool survives a new session ticket
    /// if the observer of the socket checks this property.
    public var isReadable: Bool { tls.map(\.isReadable) ?? channel.isReadable }

    /// Whether bytes have arrived, like `isReadable`, but reliable: if the last read left that open, the system is
    /// asked.
    public func hasInput() -> Bool { tls == nil ? socket?.hasInput() ?? isReadable : isReadable }

    /// Whether the peer has closed its side, and everything before was read. Received TLS records are processed first.
    public func isAtEnd() -> Bool { tls.map(\.isAtEnd) ?? base.isAtEnd() }

    /// Whether the peer still takes the message that is written, and has not been sent all of it. False for a socket: the
    /// system sends what was written.
    public var isSending: Bool { base.isSending }

    /// Sets the time until the stream fails with `timedOut`; every call replaces the previous one.
    public func setDeadline(after time: Milliseconds?) {
        channel.clearTimeout()
        channel.setDeadline(after: time)
    }

    public func tryRead(into buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        if tls != nil { return tryReadSecurely(into: buffer, limit: limit) }
        return base.tryRead(into: buffer, limit: limit)
    }

    /// Reads from TLS. This is a function of its own, so that reading without TLS is inlined.
    @inline(never)
    private func tryReadSecurely(into buffer: ByteBuffer, limit: Int) -> Transfer {
        tls.map { Transfer($0.read(into: buffer, limit: limit)) } ?? .endOfStream
    }

    /// Reads what has come, and drops it.
    /// - Parameter limit: in bytes.
    /// - Returns: the bytes that may still come; nil if the stream has ended, or if the limit is reached.
    public func discard(upTo limit: Int, buffers: BufferPool) -> Int? {
        let buffer = buffers.take()
        defer { buffers.give(buffer) }
        var rest = limit
        while rest > 0 {
            buffer.clear()
            switch tryRead(into: buffer) {
            case .moved(let count): rest -= count
            case .wouldBlock: return rest
            case .endOfStream, .failed: return nil
            }
        }
        return nil
    }

    /// Writes from the front of `buffer`, and consumes the written bytes. With TLS, refused bytes must be offered again
    /// before any others.
    public func tryWrite(from buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        if tls != nil { return tryWriteSecurely(from: buffer, limit: limit) }
        return base.tryWrite(from: buffer, limit: limit)
    }

    @inline(never)
    private func tryWriteSecurely(from buffer: ByteBuffer, limit: Int) -> Transfer {
        tls.map { Transfer($0.write(from: buffer, limit: limit)) } ?? .endOfStream
    }

    /// Whether TLS may read more from the socket than the next record (`TLSConnection.readsAhead`).
    func readsAhead(_ isAllowed: Bool) { tls?.readsAhead = isAllowed }

    /// The number of refused bytes, from the first one on, for which TLS has made a record that it keeps itself.
    var owed: Int { tls?.owed ?? 0 }

    /// Writes the bytes that are `owed`, which the caller no longer has.
    func tryWriteOwed() -> Transfer { tls.map { Transfer($0.writeOwed()) } ?? .moved(0) }

    /// Reads at least one byte; 0 means that the peer has closed.
    public func read(into buffer: ByteBuffer) async throws(IOError) -> Int {
        if tls == nil, let socket { return try await socket.read(into: buffer) }
        while true {
            if let count = try readOnce(into: buffer) { return count }
            await channel.waitForEvent()
        }
    }

    /// Reads the received bytes; nil if none.
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

    /// Writes all of `buffer` in one call, the common case; false if a part is left.
    public func writeAtOnce(_ buffer: ByteBuffer) -> Bool {
        if case .moved = tryWrite(from: buffer), buffer.isEmpty { return true }
        return buffer.isEmpty
    }

    /// Writes all of `buffer`.
    public func write(from buffer: ByteBuffer) async throws(IOError) {
        if tls == nil, let socket { return try await socket.write(from: buffer) }
        while !buffer.isEmpty {
            try check()
            switch tryWrite(from: buffer) {
            case .moved, .endOfStream: continue
            case .failed(let errno): throw failure(errno, "cannot write")
            case .wouldBlock: await channel.waitForEvent()
            }
        }
    }

    /// Reads at least one byte, unless `other`, which has the same wake-up, becomes readable first.
    /// - Parameter idle: the time in which a byte must arrive.
    /// - Returns: the number of bytes; 0 if the peer has closed, nil if the other stream is readable.
    public func read(
        into buffer: ByteBuffer, unless other: ByteStream?, idle: Milliseconds
    ) async throws(IOError) -> Int? {
        setDeadline(after: idle)
        while true {
            if let count = try readOnce(into: buffer) { return count }
            if let other, other.isReadable { return nil }
            await channel.waitForEvent()
        }
    }

    /// Writes the first `count` bytes of `buffer`, and consumes them. Stops if the peer sends something while it takes
    /// no bytes.
    /// - Parameter idle: the time in which the peer must take a byte, if it does not take them at once.
    /// - Returns: whether all were written; false if the peer has sent something.
    public func write(_ count: Int, from buffer: ByteBuffer, idle: Milliseconds) async throws(IOError) -> Bool {
        var rest = count
        // The deadline of an earlier wait no longer applies.
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
                await channel.waitForEvent()
            }
        }
        return true
    }

    /// Waits without a buffer until bytes arrive or the peer closes.
    public func untilReadable() async throws(IOError) {
        if tls == nil, let socket { return try await socket.untilReadable() }
        while true {
            try check()
            if isReadable { return }
            await channel.waitForEvent()
        }
    }

    /// Throws if the deadline has passed or the stream was closed.
    public func check() throws(IOError) { try channel.check() }

    /// The meaning of an `errno` of a read or write. With TLS, an unannounced end is an end that came too early.
    /// `tls.failure` says more.
    public func failure(_ errno: Int32, _ operation: String) -> IOError {
        if let tls, tls.failure == .truncated { return .endOfStream }
        return .system(errno: errno, operation: operation)
    }

    // MARK: - Layers and ends

    /// The transport of a further TLS connection.
    var carrier: any RecordTransport { tls ?? base }

    /// Makes the plain bytes of the connection, which runs over `carrier`, the bytes of the stream.
    func push(_ connection: TLSConnection) {
        if let tls { carriers.append(tls) }
        tls = connection
    }

    /// Tells the peer that no more bytes follow: within TLS, if there is TLS.
    public func shutdownWrite() {
        if let tls { return tls.shutdownWrite() }
        base.shutdownWrite()
    }

    public func close() {
        if let tls, !channel.isClosed {
            tls.shutdownWrite()
            for carrier in carriers.reversed() { carrier.shutdownWrite() }
        }
        channel.close()
    }

    /// Ends the stream so that the peer sees a fault, not an end: a truncated message must not look complete.
    public func abort() {
        base.resetOnClose()
        channel.close()
    }

    /// Starts TLS as the client. From then on the stream's bytes are those inside TLS.
    ///
    /// - Parameters:
    ///   - name: the server to connect to; sent to it unless it is an address.
    ///   - sessions: the store to take a session from and to keep new ones in.
    ///   - chooseIdentity: called whenever the server requests a certificate, also later, with the issuers that it
    ///     accepts; never called before the server is trusted. Nil declines. It must not retain the stream.
    ///   - limit: the time for the server's part; restarted after each decision.
    ///   - judge: decides about the server's chain; it may take time, and nil refuses. Not called for a resumed
    ///     session, which keeps its trust (`tls.serverTrust`).
    /// - Throws: the reason why TLS failed. The stream must then be closed.
    public func handshake(
        as client: ClientTLSContext, to name: ServerName, sessions: (any SessionSlot)? = nil,
        chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil, within limit: Milliseconds,
        trusting judge: (PresentedChain) async -> ServerTrust?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(
                client: client, to: name, over: carrier, sessions: sessions, chooseIdentity: chooseIdentity)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: TLSConnection.Step) in
            guard case .serverTrust(let chain) = question else { return }
            if let trust = await judge(chain) { connection.trust(trust) } else { connection.refuseTrust() }
        }
    }

    /// Starts TLS as the server.
    ///
    /// - Parameters:
    ///   - earlier: bytes of the client that were already read from the stream to inspect them; emptied.
    ///   - limit: the time for the client's part; restarted after the identity was found.
    ///   - offersHTTP2: whether the client may choose HTTP/2 (`tls.speaksHTTP2`).
    ///   - identity: chooses the certificate for a client that asks for this name, or for none; nil refuses. It may
    ///     take time. Not called for a resumed session.
    /// - Throws: the reason why TLS failed. The stream must then be closed.
    public func accept(
        as server: ServerTLSContext, after earlier: ByteBuffer? = nil, within limit: Milliseconds,
        offersHTTP2: Bool = false,
        identity: (_ serverName: String?) async -> Identity?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(
                server: server, over: carrier, after: earlier, offersHTTP2: offersHTTP2)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: TLSConnection.Step) in
            guard case .serverIdentity(let name) = question else { return }
            if let identity = await identity(name) {
                connection.setIdentity(identity)
            } else {
                connection.refuseIdentity()
            }
        }
    }

    private func shake(
        _ connection: TLSConnection, within limit: Milliseconds, answering answer: (TLSConnection.Step) async -> Void
    ) async throws(HandshakeError) {
        setDeadline(after: limit)
        while true {
            do throws(IOError) { try check() } catch { throw .connection(error) }
            let step: TLSConnection.Step
            do throws(TLSError) { step = try connection.handshake() } catch { throw HandshakeError(error) }
            switch step {
            case .done: return push(connection)
            case .wouldBlock: await channel.waitForEvent()
            case .serverTrust, .serverIdentity:
                // The time for the answer is not the peer's fault.
                setDeadline(after: nil)
                await answer(step)
                setDeadline(after: limit)
            }
        }
    }
}

/// The reason why TLS on a stream failed.
public enum HandshakeError: Error, Equatable, Sendable {
    /// The connection below ended, or the time limit passed.
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
