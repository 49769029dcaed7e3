import COpenSSL

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
