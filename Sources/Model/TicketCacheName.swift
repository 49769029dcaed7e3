/// The name of a Kerberos ticket cache.
public enum TicketCacheName: Sendable, Hashable, CustomStringConvertible {
    /// The path of a cache in a file.
    case file(String)
    /// The full name of a cache of another type, such as `KCM:1000`, `KEYRING:persistent:1000` or
    /// `DIR:/run/user/1000/krb5cc`.
    case other(String)

    private static let types = ["DIR", "KCM", "KEYRING", "MEMORY"]

    /// Parses a name with its type, in the form of MIT Kerberos. Nil if it begins with none of the types.
    public init?(typed name: String) {
        guard let colon = name.firstIndex(of: ":") else { return nil }
        let type = name[..<colon]
        if type == "FILE" {
            self = .file(String(name[name.index(after: colon)...]))
        } else if Self.types.contains(String(type)) {
            self = .other(name)
        } else {
            return nil
        }
    }

    /// The name with its type, in the form of libkrb5.
    public var typed: String {
        switch self {
        case .file(let path): "FILE:\(path)"
        case .other(let name): name
        }
    }

    /// The path of a file, or the full name.
    public var description: String {
        switch self {
        case .file(let path): path
        case .other(let name): name
        }
    }
}
