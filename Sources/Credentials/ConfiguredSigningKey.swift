/// A key that signs requests as the rule file states it: where its parts are to be found.
public struct ConfiguredSigningKey: Sendable, Hashable {
    public let region: String
    public let service: String
    public let accessKey: ValueSource
    public let secretKey: ValueSource
    /// Of temporary keys.
    public let sessionToken: ValueSource?
    public let signsPayload: Bool

    public init(
        region: String, service: String, accessKey: ValueSource, secretKey: ValueSource, sessionToken: ValueSource?,
        signsPayload: Bool
    ) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.signsPayload = signsPayload
    }
}
