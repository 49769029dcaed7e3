import Authentication

/// The login that stands on a connection, or is under way. It makes the connection one client's: what is sent on it
/// counts as that user's, so it serves no other client, credential or origin from then on, and never rests where others
/// look for one.
final class ConnectionLogin {
    let origin: Origin
    let version: CredentialVersion
    let context: any SecurityContext
    /// Whether the credential may be kept for the client's next request.
    let mayBeHeld: Bool
    /// The client's other connections, where this one rests between its requests.
    private unowned let holder: HeldConnections

    init(
        to origin: Origin, with credential: Credential, in context: any SecurityContext, heldBy holder: HeldConnections
    ) {
        self.origin = origin
        version = credential.version
        mayBeHeld = credential.persistence != .none
        self.context = context
        self.holder = holder
    }

    /// Whether requests may follow on the connection: not in the middle of a handshake, nor behind a failed one.
    var isAtRest: Bool { context.isEstablished || context.isOpening }

    /// Keeps the connection for the client's next request, or closes it.
    func rest(_ held: HeldConnections.Held, for limit: Int) { holder.keep(held, for: limit) }
}
