/// Why a client's login by Kerberos came to nothing, and whose fault that is.
public struct LoginError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Fault: Sendable, Equatable {
        /// The ticket was looked at, and is no good.
        case refused
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
