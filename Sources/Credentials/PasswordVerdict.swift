/// What a check of a client's password came to.
public enum PasswordVerdict: Sendable, Equatable {
    case right
    case wrong
    /// Too many checks wait. There is a prospect of room in so many seconds.
    case busy(retryAfter: Int)
    /// The client has left, and nothing was found out.
    case abandoned

    init(_ isRight: Bool) { self = isRight ? .right : .wrong }
}
