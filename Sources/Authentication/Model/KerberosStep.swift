/// What a token of the server comes to.
public enum KerberosStep: Sendable, Equatable {
    /// The server wants this too.
    case `continue`([UInt8])
    /// The server has proved itself, and nothing is left to say.
    case established
    /// It proves nothing: the server is not the one that the ticket is for, or did not take it.
    case failed
    /// The server's clock differs from the one here by more than Kerberos puts up with: of the ticket nothing is said.
    case clockSkew
}
