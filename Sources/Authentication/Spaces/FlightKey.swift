/// What only one request at a time is challenged for.
enum FlightKey: Sendable, Hashable {
    /// Before the realm is known; with the credential that the client would get, since clients differ.
    case origin(Origin, CredentialVersion?)
    case space(ProtectionSpace, CredentialVersion)
}
