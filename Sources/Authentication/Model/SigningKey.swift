import Crypto

/// An access key that signs requests (AWS Signature Version 4), for one service in one region.
public struct SigningKey: Sendable {
    public let region: String
    public let service: String
    /// The key's name, which goes with every request.
    public let accessKey: String
    let secretKey: Secret
    /// Of temporary keys; goes with every request, and is worth nothing without the secret.
    let sessionToken: Secret?
    /// Whether the signature covers the content; else `UNSIGNED-PAYLOAD` is said, which S3 takes.
    public let signsPayload: Bool

    public init(
        region: String, service: String, accessKey: String, secretKey: Secret, sessionToken: Secret? = nil,
        signsPayload: Bool = true
    ) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.signsPayload = signsPayload
    }

    /// Whether the service is one of S3's: their paths are encoded once, and content may go unsigned.
    public var isS3: Bool { service == "s3" || service.hasPrefix("s3-") || service == "s3express" }
}
