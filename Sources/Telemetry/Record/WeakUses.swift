import Bytes
import IO
import Synchronization

/// The mechanisms of an exchange that others on the network can read or break.
public struct WeakMechanisms: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ntlm = WeakMechanisms(rawValue: 1)
    /// Digest with MD5.
    public static let md5 = WeakMechanisms(rawValue: 2)
    public static let passwordInClear = WeakMechanisms(rawValue: 4)
    public static let tokenInClear = WeakMechanisms(rawValue: 8)
    public static let tls10 = WeakMechanisms(rawValue: 16)
    public static let tls11 = WeakMechanisms(rawValue: 32)
    /// A client that supports only old versions of TLS, and was refused.
    public static let refusedTLS = WeakMechanisms(rawValue: 64)

    /// The names for people, one for each mechanism.
    public var words: [String] {
        [
            (WeakMechanisms.ntlm, "NTLM"), (.md5, "Digest with MD5"), (.passwordInClear, "password in clear"),
            (.tokenInClear, "token in clear"), (.tls10, "TLS 1.0"), (.tls11, "TLS 1.1"),
            (.refusedTLS, "TLS below 1.2 (refused)"),
        ].filter { contains($0.0) }.map(\.1)
    }
}

/// A use of a weak mechanism, with server and client. Every text is printable, and truncated.
public struct WeakUse: Sendable, Equatable {
    public struct Server: Sendable, Hashable {
        public enum Role: Sendable {
            case origin
            case parent
            /// The proxy itself, as a server.
            case listener
        }

        public let `protocol`: String
        public let host: String
        public let port: UInt16
        public let role: Role

        public init(_ protocol: String, host: String, port: UInt16, as role: Role) {
            self.protocol = `protocol`
            self.host = host
            self.port = port
            self.role = role
        }
    }

    /// The key of a use: equal for uses in one entry.
    struct Key: Hashable {
        let finding: String
        let server: Server
        let client: String
        let application: String?
    }

    /// The mechanism, as in `WeakMechanisms.words`.
    public let finding: String
    public let server: Server
    /// The client's address, and its user if known.
    public let client: String
    /// The value of `User-Agent`; nil if absent.
    public let application: String?
    /// The name of the credential; nil if no credential was used.
    public let credential: String?
    /// The time of the first use. `last` is the latest.
    public internal(set) var first: WallTime
    public let last: WallTime

    public init(
        _ finding: String, of server: Server, by client: String, _ application: String?, with credential: String?,
        at now: WallTime
    ) {
        self.finding = finding
        self.server = server
        self.client = client
        self.application = application
        self.credential = credential
        first = now
        last = now
    }

    var key: Key { Key(finding: finding, server: server, client: client, application: application) }
}

/// The uses of weak mechanisms since the start. All loops share it.
public final class WeakUses: Sendable {
    private let entries = Mutex(LRUMap<WeakUse.Key, WeakUse>())
    private let limit: Int

    /// The limit for one server, since clients may change their names each time.
    private static let limitOfServer = 32

    /// - Parameter limit: the limit of entries, beyond which the least recently seen one is removed.
    public init(limit: Int = 500) { self.limit = limit }

    public func note(_ use: WeakUse) {
        entries.withLock { entries in
            var use = use
            if let known = entries.use(use.key) {
                use.first = known.first
            } else {
                let others = entries.values.filter { $0.server == use.server && $0.finding == use.finding }
                if others.count >= Self.limitOfServer, let oldest = others.min(by: { $0.last < $1.last }) {
                    entries.remove(oldest.key)
                }
                entries.makeRoom(below: limit)
            }
            entries.put(use, for: use.key)
        }
    }

    /// The uses, the most recent first.
    public var list: [WeakUse] {
        entries.withLock { $0.values }.sorted { ($0.last, $0.finding) > ($1.last, $1.finding) }
    }
}
