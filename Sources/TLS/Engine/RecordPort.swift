import Bytes
import COpenSSL

/// The buffer between OpenSSL and a transport: the bytes read before the transport was attached, and those it has not
/// taken yet.
///
/// OpenSSL has strict rules for a refused write: the caller must repeat exactly these bytes, and nothing else before
/// them. Here no write is refused. Bytes that the transport does not take wait in `outbound`. OpenSSL must stop only
/// when that holds too many bytes.
final class RecordPort {
    /// The reason why the transport delivers no more bytes.
    enum End: Equatable {
        case orderly
        case failed(errno: Int32)
    }

    private let transport: any RecordTransport
    /// The client's role, which forbids sending while it judges the server's certificate.
    private let client: TLSConnection.ClientRole?
    /// The bytes read from the transport before the connection existed.
    private var earlier: ByteBuffer?
    private var outbound: ByteBuffer?
    private(set) var end: End?
    /// The `errno` with which the transport failed to send. Earlier bytes of the peer can still be read.
    private(set) var sendError: Int32?
    /// Whether OpenSSL was made to stop sending. It continues there when it is called again.
    private var isRefusing = false

    /// The limit of waiting bytes. Our own records reach it only if a peer makes us answer and does not read.
    private static let outboundLimit = 64 * 1024
    /// The result of a BIO that moved no bytes.
    static let nothing: Int32 = -1

    init(_ transport: any RecordTransport, client: TLSConnection.ClientRole?, after earlier: ByteBuffer?) {
        self.transport = transport
        self.client = client
        if let earlier, !earlier.isEmpty {
            let copy = ByteBuffer(capacity: earlier.count)
            copy.append(earlier.readable)
            earlier.clear()
            self.earlier = copy
        }
    }

    /// Whether records wait for the transport.
    var isBlocked: Bool { outbound != nil }

    /// Bytes that wait for the transport.
    var waiting: Int { outbound?.count ?? 0 }

    /// Whether another call of OpenSSL could make progress.
    var mayBring: Bool { transport.isReadable || isRefusing || earlier != nil || end != nil }

    /// Reads for the BIO: a count, 0 at the end or after a failure, or `nothing`.
    func receive(_ bio: OpaquePointer, into room: UnsafeMutableRawBufferPointer) -> Int32 {
        tls_clear_retry(bio)
        if let earlier { return receive(earlier, into: room) }
        while end == nil {
            var span = MutableRawSpan(_unsafeBytes: room)
            switch transport.read(into: &span) {
            case .moved(0): continue
            case .moved(let count): return Int32(truncatingIfNeeded: count)
            case .wouldBlock:
                tls_would_block_reading(bio)
                return Self.nothing
            case .endOfStream: end = .orderly
            case .failed(let errno): end = .failed(errno: errno)
            }
        }
        return 0
    }

    private func receive(_ earlier: ByteBuffer, into room: UnsafeMutableRawBufferPointer) -> Int32 {
        let count = min(earlier.count, room.count)
        _ = earlier.withReadable { held in
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: held.prefix(count)))
            return count
        }
        earlier.consume(count)
        if earlier.isEmpty { self.earlier = nil }
        return Int32(truncatingIfNeeded: count)
    }

    /// Writes for the BIO. All bytes are taken, unless sending is not allowed. After a failure they are dropped:
    /// otherwise OpenSSL would stop reading, and the bytes to read may say why it failed.
    func send(_ bio: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        tls_clear_retry(bio)
        isRefusing = client?.isSilent == true || waiting > Self.outboundLimit
        if isRefusing {
            tls_would_block_writing(bio)
            return Self.nothing
        }
        let sent = outbound == nil ? offer(RawSpan(_unsafeBytes: bytes)) : 0
        if sent < bytes.count, sendError == nil { keep(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent))) }
        return Int32(truncatingIfNeeded: bytes.count)
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        let waiting = outbound ?? ByteBuffer(capacity: bytes.count)
        waiting.reserve(bytes.count)
        _ = waiting.withWritable { room in
            room.copyMemory(from: bytes)
            return bytes.count
        }
        outbound = waiting
    }

    /// Offers the waiting bytes to the transport.
    /// - Returns: whether all of them were taken.
    func flush() -> Bool {
        guard let waiting = outbound else { return true }
        waiting.consume(offer(waiting.readable.bytes))
        guard waiting.isEmpty || sendError != nil else { return false }
        outbound = nil
        return sendError == nil
    }

    /// Writes as much as the transport takes now.
    private func offer(_ bytes: RawSpan) -> Int {
        var sent = 0
        while sent < bytes.byteCount, sendError == nil {
            switch transport.write(bytes.extracting(droppingFirst: sent)) {
            case .moved(let count): sent += count
            case .wouldBlock, .endOfStream: return sent
            case .failed(let errno): sendError = errno
            }
        }
        return sent
    }

    /// Sends bytes outside OpenSSL, if that is possible at once and in order.
    func sendPlainly(_ bytes: [UInt8]) {
        if outbound == nil { _ = offer(bytes.span.bytes) }
    }

    /// A record port as a BIO, the form in which OpenSSL reads and writes.
    ///
    /// The BIO refers to its port without retaining it. A connection owns the port and the `SSL`, and that owns the BIO.
    /// So OpenSSL calls back only while a method of the connection runs.
    enum BIO {
        static func make(for port: RecordPort) -> OpaquePointer? {
            guard let method, let bio = BIO_new(method.pointer) else { return nil }
            BIO_set_data(bio, Unmanaged.passUnretained(port).toOpaque())
            BIO_set_init(bio, 1)
            return bio
        }

        private static func port(of bio: OpaquePointer) -> RecordPort {
            Unmanaged<RecordPort>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
        }

        private static let method: LibraryObject? = {
            guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport") else { return nil }
            BIO_meth_set_read(method) { bio, room, count in
                guard let bio, let room, count > 0 else { return RecordPort.nothing }
                return port(of: bio).receive(bio, into: UnsafeMutableRawBufferPointer(start: room, count: Int(count)))
            }
            BIO_meth_set_write(method) { bio, bytes, count in
                guard let bio, let bytes, count > 0 else { return RecordPort.nothing }
                return port(of: bio).send(bio, UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            BIO_meth_set_ctrl(method) { bio, command, _, _ in
                switch command {
                case BIO_CTRL_FLUSH: 1
                case BIO_CTRL_EOF: bio.map(port(of:))?.end == nil ? 0 : 1
                default: 0
                }
            }
            return LibraryObject(takingOwnership: method, free: { BIO_meth_free($0) })
        }()
    }
}

/// The ordered bytes below a TLS connection: a socket, or another TLS connection. Belongs to one loop.
public protocol RecordTransport: AnyObject {
    /// False if a read would return `wouldBlock` and need not be tried.
    var isReadable: Bool { get }

    /// Fills the front of `room`, which is not empty, with received bytes.
    func read(into room: inout MutableRawSpan) -> RecordTransfer

    /// Takes bytes from the front of `bytes`. Bytes that were refused are offered again, before any others.
    func write(_ bytes: RawSpan) -> RecordTransfer
}

/// The result of one attempt to move bytes.
public enum RecordTransfer: Equatable, Sendable {
    case moved(Int)
    /// The peer has closed its side.
    case endOfStream
    /// No bytes move until the transport has an event.
    case wouldBlock
    case failed(errno: Int32)
}
