/// Why a client's login by Kerberos came to nothing, and whose fault that is.
public struct LoginError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Fault: Sendable, Equatable {
        /// The ticket was looked at, and is no good.
        case refused
        /// Nothing can be said of the ticket: the client's clock and the one here differ by more than Kerberos puts up with.
        case clockSkew
        /// What came is no token, or one of another mechanism.
        case notKerberos
        /// Nothing can be said: the keys cannot be read, or the library is not installed.
        case unavailable
    }

    public let fault: Fault
    /// One sentence, without anything secret.
    public let description: String

    public init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}
