import Authentication
import Model
import Synchronization

/// The login that stands on a connection, or is under way. It makes the connection one client's: what is sent on it
/// counts as that user's, so it serves no other client, credential or origin from then on, and never rests where others
/// look for one.
public final class ConnectionLogin {
    /// Whose login it is.
    enum Owner {
        /// One of our credentials', as far as its context says.
        case credential(CredentialVersion, in: any SecurityContext)
        /// The client's own, of which we know no more than that.
        case client
    }

    public let origin: UpstreamServer
    let owner: Owner
    /// Whether the credential may be kept for the client's next request.
    private(set) var mayBeHeld: Bool
    /// The client's other connections, where this one rests between its requests.
    private unowned let holder: HeldConnections
    private static let count = Atomic(0)

    public init(
        to origin: UpstreamServer, with credential: Credential, in context: any SecurityContext,
        heldBy holder: HeldConnections
    ) {
        self.origin = origin
        owner = .credential(credential.version, in: context)
        mayBeHeld = credential.persistence != .none
        self.holder = holder
        Self.count.add(1, ordering: .relaxed)
        holder.begin(self)
    }

    /// The client's own.
    public init(to origin: UpstreamServer, heldBy holder: HeldConnections) {
        self.origin = origin
        owner = .client
        mayBeHeld = true
        self.holder = holder
        Self.count.add(1, ordering: .relaxed)
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }

    /// Whether there is any, on whichever loop.
    public static var areThere: Bool { count.load(ordering: .relaxed) > 0 }

    /// The connection serves the request that it has, and no other.
    public func retire() { mayBeHeld = false }

    /// Nil where it is the client's own.
    public var version: CredentialVersion? {
        if case .credential(let version, _) = owner { version } else { nil }
    }

    /// Whether it is with another version of that credential.
    public func isOf(_ name: String, but version: CredentialVersion?) -> Bool {
        self.version?.name == name && self.version != version
    }

    public var context: (any SecurityContext)? {
        if case .credential(_, let context) = owner { context } else { nil }
    }

    /// Whether requests may follow on the connection: not in the middle of a handshake of ours, nor behind a failed one.
    public var isAtRest: Bool { context?.isAtRest ?? true }

    /// Keeps the connection for the client's next request, or closes it.
    public func rest(_ held: HeldConnections.Held, for limit: Int) { holder.keep(held, for: limit) }
}
