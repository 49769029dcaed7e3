import Bytes

/// A request method, as far as the proxy treats it differently. Any token is a method (RFC 9110 section 9.1). Unknown
/// ones are `extension`, and their name is in the head.
public enum Method: UInt8, Sendable {
    case get, head, post, put, delete, connect, options, trace, patch
    /// A method that servers treat as TRACE: TRACK, and either name in other case.
    case track
    case `extension`

    /// Whether the request may be sent again if a reused connection died before any byte of the response (RFC 9110
    /// section 9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        case .post, .connect, .patch, .track, .extension: false
        }
    }

    /// Whether the response may show the request's fields, with a credential in them (RFC 9110 section 9.3.8).
    public var isEchoed: Bool { self == .trace || self == .track }

    /// The name; nil for an extension method.
    public var name: StaticString? {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .connect: "CONNECT"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .patch: "PATCH"
        case .track, .extension: nil
        }
    }

    /// Reads the method with that name; method names are case-sensitive.
    public init(_ name: Span<UInt8>) {
        self =
            switch name.count {
            case 3: name.equals("GET") ? .get : name.equals("PUT") ? .put : .extension
            case 4: name.equals("POST") ? .post : name.equals("HEAD") ? .head : .extension
            case 5:
                name.equals("PATCH")
                    ? .patch
                    : name.equals("TRACE")
                        ? .trace
                        : name.equalsIgnoringCase("trace") || name.equalsIgnoringCase("track") ? .track : .extension
            case 6: name.equals("DELETE") ? .delete : .extension
            case 7: name.equals("CONNECT") ? .connect : name.equals("OPTIONS") ? .options : .extension
            default: .extension
            }
    }
}
