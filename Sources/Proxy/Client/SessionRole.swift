/// What a session's requests are about, which follows from the way they come.
enum SessionRole {
    /// The client speaks to the proxy, in clear or by TLS: each request says whom it is for, and who asks.
    case proxy
    /// The client speaks, as far as it knows, to the origin: all was said when the tunnel was opened.
    case tunnel(InterceptedTunnel)
}
