import Bytes
import COpenSSL

/// Between OpenSSL and a transport: the bytes that came before the transport, and those it has not taken yet.
///
/// OpenSSL's own rules for a write that is refused are strict: the same bytes again, and nothing in between. Here a write
/// is never refused; what the transport does not take waits in `outbound`, and OpenSSL is told to stop only when far too
/// much waits.
final class RecordPort {
    /// Why the transport brings nothing more.
    enum End: Equatable {
        case orderly
        case failed(errno: Int32)
    }

    private let transport: any RecordTransport
    /// Sends nothing while the server's certificate is being judged.
    private let client: ClientRole?
    /// Bytes that were read from the transport before there was a connection.
    private var earlier: ByteBuffer?
    private var outbound: ByteBuffer?
    private(set) var end: End?
    /// Why the transport takes nothing more; an `errno`. Earlier bytes of the peer can still be read.
    private(set) var sendError: Int32?
    /// OpenSSL was told to stop sending, and goes on where it stopped when it is asked again.
    private var isRefusing = false

    /// Our own records only fill this when a peer makes us answer and does not read.
    private static let outboundLimit = 64 * 1024
    /// The result of a BIO when nothing moved.
    static let nothing: Int32 = -1

    init(_ transport: any RecordTransport, client: ClientRole?, after earlier: ByteBuffer?) {
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

    /// Whether OpenSSL, asked again, could get any further than the last time.
    var mayBring: Bool { transport.isReadable || isRefusing || earlier != nil || end != nil }

    /// For the BIO: a count, 0 at the end or after a failure, or `nothing`.
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

    /// For the BIO: all of the bytes are taken, unless sending is not allowed. They are dropped when it has failed, since
    /// OpenSSL would then read no more, and what there is to read may say why.
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

    /// Offers what waits to the transport.
    /// - Returns: whether nothing waits any more.
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

    /// Sends bytes past OpenSSL, if that is possible at once and in order.
    func sendPlainly(_ bytes: [UInt8]) {
        if outbound == nil { _ = offer(bytes.span.bytes) }
    }
}

/// A record port in the form in which OpenSSL reads and writes it.
///
/// The BIO refers to its port without keeping it: a connection owns both the port and the `SSL`, which owns the BIO, so
/// that OpenSSL calls back only while a method of the connection runs.
enum TransportBIO {
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

/// The ordered bytes under a TLS connection: a socket, or another TLS connection. Belongs to one loop.
public protocol RecordTransport: AnyObject {
    /// False when a read would say `wouldBlock`: then it need not be tried.
    var isReadable: Bool { get }

    /// Fills the front of `room`, which is not empty, with what has come.
    func read(into room: inout MutableRawSpan) -> RecordTransfer

    /// Takes bytes from the front of `bytes`. Refused bytes are offered again, before anything else.
    func write(_ bytes: RawSpan) -> RecordTransfer
}

/// The result of one attempt to move bytes.
public enum RecordTransfer: Equatable, Sendable {
    case moved(Int)
    /// The peer has ended its side.
    case endOfStream
    /// Nothing moves until an event on the transport.
    case wouldBlock
    case failed(errno: Int32)
}
