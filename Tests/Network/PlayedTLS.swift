import Bytes
import Crypto
import FoundationEssentials
import IO
import TLS

/// The server's side of TLS, between the bytes of a connection and those that a conversation names.
public final class PlayedTLS {
    /// The bytes of the connection, in memory.
    private final class Wire: RecordTransport {
        var arrived: ArraySlice<UInt8> = []
        var leaving: [UInt8] = []

        var isReadable: Bool { !arrived.isEmpty }

        func read(into room: inout MutableRawSpan) -> RecordTransfer {
            let count = min(room.byteCount, arrived.count)
            guard count > 0 else { return .wouldBlock }
            room.withUnsafeMutableBytes { $0.copyBytes(from: arrived.prefix(count)) }
            arrived.removeFirst(count)
            return .moved(count)
        }

        func write(_ bytes: RawSpan) -> RecordTransfer {
            bytes.withUnsafeBytes { leaving += $0 }
            return .moved(bytes.byteCount)
        }
    }

    /// Signs the certificates of all played servers.
    private static let authority = Result { try CertificateAuthority.make(host: "playbook", at: SystemClock.wallTime) }
    private static let context = Result { try ServerTLSContext() }

    private let wire = Wire()
    private let connection: TLSConnection

    /// - Parameters:
    ///   - host: in whose name the server speaks.
    ///   - name: of the only client certificate that it takes; nil: it asks for none.
    init(as host: String, accepting name: String?) throws {
        let identity = try Self.authority.get().mint(for: ServerName(host), at: SystemClock.wallTime)
        let context = try name.map { try Self.context(accepting: $0) } ?? Self.context.get()
        connection = try TLSConnection(server: context, over: wire, identity: identity)
    }

    private static func context(accepting name: String) throws -> ServerTLSContext {
        let leaf = try identities.get()[name]?.leaf.der
        return try ServerTLSContext(
            ServerTLSContext.Settings(clientCertificates: .requested(issuers: []) { $0.leaf.der == leaf }))
    }

    /// The certificates that clients of the played servers may have.
    private static let identities = Result {
        try Dictionary(
            uniqueKeysWithValues: ["old", "new"].map { name in
                (name, try authority.get().mint(for: ServerName(name), at: SystemClock.wallTime))
            })
    }

    /// Writes `NAME.pem` and `NAME.key` for each of them.
    public static func writeIdentities(to folder: String) throws {
        for (name, identity) in try identities.get() {
            try identity.leaf.pem.write(toFile: "\(folder)/\(name).pem", atomically: true, encoding: .utf8)
            let key = try identity.key.pem().withBytes { String(decoding: $0.array, as: UTF8.self) }
            try key.write(toFile: "\(folder)/\(name).key", atomically: true, encoding: .utf8)
        }
    }

    /// The certificate of the authority, for rules that trust it.
    public static func anchor() throws -> String { try authority.get().identity.leaf.pem }

    /// - Returns: the plain bytes in what has come.
    func receive(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        wire.arrived += bytes
        guard case .done? = try? connection.handshake() else { return [] }
        let plain = ByteBuffer(capacity: 1 << 16)
        while case .moved = connection.read(into: plain) { plain.reserve(1 << 16) }
        return plain.readable.array
    }

    func send(_ bytes: [UInt8]) {
        let rest = ByteBuffer(capacity: max(1, bytes.count))
        rest.append(bytes.span)
        while !rest.isEmpty, case .moved = connection.write(from: rest) {}
    }

    /// Says that nothing more will be sent.
    func end() { connection.shutdownWrite() }

    /// The bytes that are to go out.
    func takeLeaving() -> [UInt8] {
        defer { wire.leaving = [] }
        return wire.leaving
    }
}
