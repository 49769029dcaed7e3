/// Where the sessions of one kind of connection (this server, under this identity and this trust rule) are kept.
public protocol SessionPlace: Sendable {
    /// A session to resume, if there is one that has not expired. One of TLS 1.3 is given away but once (RFC 8446
    /// appendix C.4).
    func take() -> StoredSession?
    func keep(_ session: StoredSession)
}
