/// `aws`: an access key that signs requests (AWS Signature Version 4).
public struct SignatureSource: Sendable, Equatable {
    public let region: String
    public let service: String
    public let accessKey: ValueSource
    public let secretKey: ValueSource
    /// Of temporary keys.
    public let sessionToken: ValueSource?
    /// Whether a request's content is hashed before it is sent, or `UNSIGNED-PAYLOAD` is said.
    public let signsPayload: Bool
}
