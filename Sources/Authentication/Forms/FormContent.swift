import Crypto

/// What a filled-in form is sent as.
public struct FormContent: Sendable {
    /// The value of `Content-Type`.
    public let type: String
    public let bytes: Secret
}
