import Bytes

/// The scheme of an absolute-form target.
public enum Scheme: UInt8, Sendable {
    case http, https, ftp
    case other

    /// The port meant when the authority names none; nil when we do not know the scheme.
    public var defaultPort: UInt16? {
        switch self {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .other: nil
        }
    }
}

extension Scheme {
    /// The scheme with that name, in either case (RFC 3986 section 3.1).
    init(_ name: Span<UInt8>) {
        if name.equalsIgnoringCase("http") {
            self = .http
        } else if name.equalsIgnoringCase("https") {
            self = .https
        } else {
            self = name.equalsIgnoringCase("ftp") ? .ftp : .other
        }
    }
}
