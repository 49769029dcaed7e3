import Bytes
import COpenSSL
import Glibc

extension TLSConnection {
    /// Reads into the free room of `buffer`, which must have some, at most `limit` bytes.
    ///
    /// `endOfStream` is the peer's orderly end. An end of the transport alone is `failed`, with `failure` `truncated`;
    /// what the peer still wants to hear may be written after both.
    public func read(into buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        _ = buffer.withWritable { room in
            outcome = read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        return outcome
    }

    /// Writes from the front of `buffer`, and consumes what was written. What is refused must be offered again before
    /// anything else: its record may be made already.
    public func write(from buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        let written = buffer.withReadable { held in
            outcome = write(UnsafeRawBufferPointer(rebasing: held.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        buffer.consume(written)
        return outcome
    }

    /// Whether a read would not say `wouldBlock`.
    ///
    /// Takes in what has come: a connection at rest on which nothing came but what TLS itself has to say, such as a new
    /// session ticket, stays not readable.
    public var isReadable: Bool {
        guard case .open = state else { return failure != nil }
        if hasPending || hasPeerEnded { return true }
        _ = port.flush()
        guard mayRead else { return false }
        var byte: UInt8 = 0
        var count = 0
        tls_clear_errors()
        if SSL_peek_ex(handle, &byte, 1, &count) == 1 { return true }
        return stopped() != .wouldBlock
    }

    /// Whether the peer has ended its side, in order or not, and all that it sent before was read. Takes in what has come.
    public var isAtEnd: Bool { isReadable && !hasPending && (hasPeerEnded || failure != nil) }

    /// Whether decrypted bytes wait.
    public var hasPending: Bool { SSL_pending(handle) > 0 }

    /// Says to the peer that nothing more will come from here (close_notify). It may still say what it has to say.
    public func shutdownWrite() {
        guard case .open = state, SSL_get_shutdown(handle) & SSL_SENT_SHUTDOWN == 0 else { return }
        tls_clear_errors()
        SSL_shutdown(handle)
        _ = port.flush()
    }

    /// Whether OpenSSL has anything to work on: what was left of the last reading, or what the transport may bring.
    private var mayRead: Bool { SSL_has_pending(handle) == 1 || hasPeerEnded || port.mayBring }

    private var hasPeerEnded: Bool { SSL_get_shutdown(handle) & SSL_RECEIVED_SHUTDOWN != 0 }

    // MARK: - Memory

    /// All that is there and fits: a record at a time, for as long as the next one is there too.
    func read(into room: UnsafeMutableRawBufferPointer) -> RecordTransfer {
        guard case .open = state else { return refusal }
        _ = port.flush()
        guard mayRead, !room.isEmpty else { return .wouldBlock }
        var total = 0
        while let start = room.baseAddress, total < room.count {
            var count = 0
            tls_clear_errors()
            guard SSL_read_ex(handle, start + total, room.count - total, &count) == 1 else {
                let reason = stopped()
                return total > 0 ? .moved(total) : reason
            }
            total += count
            if SSL_has_pending(handle) == 0 { break }
        }
        return .moved(total)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> RecordTransfer {
        guard case .open = state else { return refusal }
        if SSL_get_shutdown(handle) & SSL_SENT_SHUTDOWN != 0 { return .failed(errno: EPIPE) }
        guard port.flush() else { return stoppedSending }
        var total = min(owed, bytes.count)
        owed -= total
        while let start = bytes.baseAddress, total < bytes.count {
            var count = 0
            tls_clear_errors()
            guard SSL_write_ex(handle, start + total, bytes.count - total, &count) == 1 else {
                let reason = stopped()
                return total > 0 ? .moved(total) : reason
            }
            guard !port.isBlocked, port.sendError == nil else {
                owed = count
                return total > 0 ? .moved(total) : stoppedSending
            }
            total += count
        }
        return .moved(total)
    }

    /// Why OpenSSL moved nothing.
    private func stopped() -> RecordTransfer {
        switch SSL_get_error(handle, 0) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return port.end == nil ? .endOfStream : refusal
        default:
            fail(reasonForFailing)
            return refusal
        }
    }

    private var stoppedSending: RecordTransfer {
        port.sendError.map { .failed(errno: $0) } ?? .wouldBlock
    }

    private var refusal: RecordTransfer {
        switch failure {
        case nil: .wouldBlock
        case .truncated: .failed(errno: ECONNRESET)
        case .transport(let errno): .failed(errno: errno)
        default: .failed(errno: EPROTO)
        }
    }
}

extension TLSConnection: RecordTransport {
    public func read(into room: inout MutableRawSpan) -> RecordTransfer {
        room.withUnsafeMutableBytes { read(into: $0) }
    }

    public func write(_ bytes: RawSpan) -> RecordTransfer {
        bytes.withUnsafeBytes { write($0) }
    }
}
