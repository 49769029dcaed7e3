/// What is counted beside errors and durations.
public enum Counter: Int, CaseIterable, Sendable {
    /// Exchanges by the class of the status sent; none when the client left before one was.
    case responsesNone
    case responses1xx
    case responses2xx
    case responses3xx
    case responses4xx
    case responses5xx
    case answeredBasic
    case answeredDigest
    case answeredNTLM
    case answeredNegotiate
    case answeredBearer
    case answeredForm
    case signed
    case answeredClientCertificate
    /// A credential was sent and the peer refused it.
    case credentialsRefused
    /// A challenge was not answered because its credential is parked.
    case credentialsParked
    case upstreamOpened
    case upstreamReused
    /// TLS handshakes with origins that came to a good end, by whether a session was taken up again.
    case upstreamHandshakesFull
    case upstreamHandshakesResumed
    /// TLS handshakes with clients, at a listener or in a tunnel.
    case clientHandshakesFull
    case clientHandshakesResumed
    case clientHandshakesFailed
    case tunnelsOpened
    case tunnelsClosed
    /// Tunnels whose requests were looked into; they are not among those opened.
    case tunnelsIntercepted
    case clientsAccepted
    case clientsClosed
    /// Clients that were not served: by `clients { allow … }`, and because one of the limits was met.
    case clientsRefusedByList
    case clientsRefusedAtLimit
    case clientsRefusedAtAddressLimit
    /// Clients that waited for nothing but their next request, and were closed so that others had room.
    case clientsDisplaced
    case bytesIn
    case bytesOut
    /// Requests that were about to go to another server than they were for.
    case requestsMisdirected
    /// Lines of the access log that found no room.
    case logLinesDropped
}
