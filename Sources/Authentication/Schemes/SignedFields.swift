import Crypto

/// The fields that a signed request carries, and no other with these names.
public struct SignedFields: Sendable {
    /// `X-Amz-Date`.
    public let date: String
    /// `X-Amz-Content-Sha256`.
    public let payload: String
    /// `X-Amz-Security-Token`.
    public let token: Secret?
    /// `Authorization`.
    public let authorization: String

    /// In lower case, what a client's own request must lose before it is signed. `authorization` is not among them.
    public static let replaced: [StaticString] = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
}
