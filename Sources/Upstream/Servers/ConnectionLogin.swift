import Authentication
import Model
import Synchronization

/// The login that stands on a connection, or is under way. What is sent on the connection counts as that user's, so it
/// serves no other credential or origin from then on, and never rests where requests without that credential look for one.
/// It serves no other client either, unless the credential is a rule's that every client is answered with.
public final class ConnectionLogin {
    public let origin: UpstreamServer
    /// The version of our credential that logs in; nil: it is the client's own login, of which we know no more than that.
    public let version: CredentialVersion?
    /// How far that has come; nil: as above.
    public let context: (any SecurityContext)?
    /// Whether the credential may be kept for the client's next request.
    private var mayBeHeld: Bool
    /// Whether it serves every client that the rules grant the credential to.
    let isShared: Bool
    private static let count = Atomic(0)

    /// - Parameter isShared: whether the rules grant the credential to every client, and none of them looks at who asks.
    public init(
        to origin: UpstreamServer, with credential: Credential, in context: any SecurityContext, isShared: Bool
    ) {
        self.origin = origin
        version = credential.version
        self.context = context
        mayBeHeld = credential.persistence != .none
        self.isShared = isShared
        Self.count.add(1, ordering: .relaxed)
    }

    /// The client's own.
    public init(ofClientTo origin: UpstreamServer) {
        self.origin = origin
        (version, context) = (nil, nil)
        mayBeHeld = true
        isShared = false
        Self.count.add(1, ordering: .relaxed)
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }

    /// Whether there is any, on whichever loop.
    public static var areThere: Bool { count.load(ordering: .relaxed) > 0 }

    /// The connection serves the request that it has, and no other.
    public func retire() { mayBeHeld = false }

    /// Whether it is with another version of that credential.
    public func isOf(_ name: String, but version: CredentialVersion?) -> Bool {
        self.version?.isNamed(name) == true && self.version != version
    }

    /// Whether another request may follow on the connection: not in the middle of a handshake of ours, nor behind a failed
    /// one.
    var mayFollow: Bool { mayBeHeld && context?.isAtRest ?? true }
}
