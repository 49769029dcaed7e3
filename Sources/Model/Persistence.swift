/// How long a credential is kept once it was accepted.
public enum Persistence: String, Sendable, Hashable, CaseIterable {
    /// For this request.
    case none
    /// For this client's session.
    case session
    /// In the store.
    case permanent
}
