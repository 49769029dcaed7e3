/// Where a handshake stands.
public enum HandshakeStep {
    /// It waits for the transport.
    case wouldBlock
    /// It waits for `trust` or `refuseTrust`. Nothing was sent since the chain came, and nothing is until then.
    case serverTrust(PresentedChain)
    /// It waits for `setIdentity` or `refuseIdentity`; the name is the client's (RFC 6066 section 3), as it came.
    case serverIdentity(serverName: String?)
    case done
}
