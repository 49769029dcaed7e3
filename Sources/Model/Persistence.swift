/// The time for which an accepted credential is kept.
public enum Persistence: String, Sendable, Hashable, CaseIterable {
    /// The credential is used for this request only.
    case none
    /// The credential is kept for this client's session.
    case session
    /// The credential is kept in the store.
    case permanent
}
