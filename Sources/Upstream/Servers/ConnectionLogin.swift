import Authentication
import Model
import Synchronization

/// A login of a connection, complete or in progress. The server takes every later request on the connection as that
/// user's. So the connection serves no other credential or origin from then on, and is never kept idle where requests
/// without that credential search. It serves other clients only if a rule gives the credential to every client.
public final class ConnectionLogin {
    public let origin: UpstreamServer
    /// The version of our credential that logs in; nil: the client logged in itself.
    public let version: CredentialVersion?
    /// The state of the login; nil: the client logged in itself, and its state is unknown.
    public let context: (any SecurityContext)?
    /// Whether the connection may be kept for the client's next request.
    private var mayBeHeld: Bool
    /// Whether the login serves every client that the rules grant the credential to.
    let isShared: Bool
    private static let count = Atomic(0)

    /// - Parameters:
    ///   - credential: our credential that logs in; nil: the client sent its own.
    ///   - isShared: whether the rules grant the credential to every client, and no rule depends on the client.
    public init(
        to origin: UpstreamServer, with credential: Credential? = nil, in context: (any SecurityContext)? = nil,
        isShared: Bool = false
    ) {
        self.origin = origin
        version = credential?.version
        self.context = context
        mayBeHeld = credential.map { $0.persistence != .none } ?? true
        self.isShared = isShared
        Self.count.add(1, ordering: .relaxed)
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }

    /// Whether any login exists, on any loop.
    public static var areThere: Bool { count.load(ordering: .relaxed) > 0 }

    /// Ends the reuse of the connection after the request that it carries.
    public func retire() { mayBeHeld = false }

    /// Whether the login uses another version of that credential.
    public func isOf(_ name: String, but version: CredentialVersion?) -> Bool {
        self.version?.isNamed(name) == true && self.version != version
    }

    /// Whether another request may follow on the connection. False during our own handshake, and after one that
    /// failed.
    var mayFollow: Bool { mayBeHeld && context?.isAtRest ?? true }
}
