/// What a database could not do. The texts are the library's own and hold no stored value.
public enum DatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It cannot be opened or reached.
    case unavailable(String)
    /// It refused or failed at a statement.
    case failed(String)
    /// There is no room for what is to be written.
    case full(String)
    /// It is none of ours, or damaged.
    case unusable(String)

    public var description: String {
        switch self {
        case .unavailable(let cause): "the database cannot be reached: \(cause)"
        case .failed(let cause): "the database refused a statement: \(cause)"
        case .full(let cause): "the database has no room: \(cause)"
        case .unusable(let cause): "the database cannot be used: \(cause)"
        }
    }
}
