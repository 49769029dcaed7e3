/// The protocol of the server of a protection space; for a proxy its type.
public enum NetworkProtocol: String, Sendable, Hashable, CaseIterable {
    case http
    case https
    case ftp
    case socks
}
