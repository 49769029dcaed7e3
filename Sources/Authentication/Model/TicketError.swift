/// Why there is no ticket.
public enum TicketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The KDC refused the password or the key: it is not asked again before that changes.
    case refused(String)
    /// Nothing was said about the password or the key. It may go well the next time.
    case unavailable(String)

    public var description: String {
        switch self {
        case .refused(let sentence), .unavailable(let sentence): sentence
        }
    }
}
