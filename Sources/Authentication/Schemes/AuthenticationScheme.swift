import Bytes
import Model

/// A scheme that answers challenges. The challenge loop uses schemes through this interface only.
public protocol AuthenticationScheme: Sendable {
    var method: AuthenticationMethod { get }

    /// The protection of the credential in this challenge; nil if the scheme cannot answer it. Values are comparable
    /// over all schemes: see `Strength`.
    func strength(of challenge: HeaderChallenge) -> Int?

    /// The authenticator for this challenge, and for further requests to its space.
    ///
    /// - Parameter target: the challenged request target, from which some schemes derive the space's extent.
    func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator
}

/// The schemes that there are, and the order in which challenges are tried when no rule orders them.
public enum Strength {
    public static let schemes: [any AuthenticationScheme] = [
        NegotiateScheme(), NTLMScheme(), DigestScheme(), BearerScheme(), FormScheme(), BasicScheme(),
    ]

    public static let unknown = 0
    public static let basic = 100
    /// A form sends the password once for many requests.
    public static let form = 150
    public static let bearer = 200
    public static let digestMD5 = 300
    public static let digestSHA256 = 400
    public static let digestSHA512t256 = 500
    public static let ntlm = 600
    public static let negotiate = 700
}
