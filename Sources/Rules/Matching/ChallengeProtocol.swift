/// The protocol of a protection space; for a parent proxy, its type.
public enum ChallengeProtocol: String, Sendable, CaseIterable {
    case http
    case https
    case ftp
    case socks
}
