/// What an answer belongs to.
public enum AuthenticatorBinding: Sendable, Hashable {
    case request
    /// The connection must serve nobody else, and stay open between the legs.
    case connection
}
