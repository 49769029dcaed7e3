/// What is spoken with the server of a protection space; for a proxy its type.
public enum NetworkProtocol: String, Sendable, Hashable {
    case http
    case https
    case ftp
    case socks
}
