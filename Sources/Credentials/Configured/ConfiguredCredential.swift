import Authentication
import GSSAPI
import Model

/// A credential as the rule file states it: where its parts are to be found.
public struct ConfiguredCredential: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
        case password(user: ValueSource, password: ValueSource)
        case identity(ConfiguredIdentity)
        case token(ValueSource)
        case signingKey(ConfiguredSigningKey)
        case grant(ConfiguredGrant)
        case kerberos(ConfiguredKerberos)
    }

    public let name: String
    public let content: Content

    public init(name: String, content: Content) {
        self.name = name
        self.content = content
    }

    public init(name: String, user: ValueSource, password: ValueSource) {
        self.init(name: name, content: .password(user: user, password: password))
    }
}

/// A certificate with its key as the rule file states it.
public struct ConfiguredIdentity: Sendable, Hashable {
    public enum Place: Sendable, Hashable {
        /// Paths of PEM or PKCS#12 files; no key where the certificate's file has it too.
        case files(certificate: String, key: String?)
        /// A URI of RFC 7512.
        case token(uri: String)
    }

    public let place: Place
    /// The secret that opens the key, or the token.
    public let passphrase: ValueSource?

    public init(_ place: Place, passphrase: ValueSource?) {
        self.place = place
        self.passphrase = passphrase
    }
}

extension ConfiguredIdentity: CustomStringConvertible {
    /// Where it is, for a sentence about it.
    public var description: String {
        switch place {
        case .files(let certificate, let key?): "\(certificate) with \(key)"
        case .files(let certificate, nil): certificate
        case .token(let uri): uri
        }
    }
}

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

/// The grant of a token as the rule file states it: where its parts are to be found.
public struct ConfiguredGrant: Sendable, Hashable {
    public enum Proof: Sendable, Hashable {
        case none
        case secret(ValueSource, inBody: Bool)
        /// The path of a PEM file.
        case key(path: String, passphrase: ValueSource?, id: String?)
        case certificate(ConfiguredIdentity)
    }

    public enum Kind: Sendable, Hashable {
        case clientCredentials
        case refreshToken(ValueSource)
        case assertion(ValueSource)
    }

    public let endpoint: TokenEndpoint
    public let clientID: String
    public let proof: Proof
    public let kind: Kind
    public let scopes: [String]
    public let audience: String?

    public init(
        endpoint: TokenEndpoint, clientID: String, proof: Proof, kind: Kind, scopes: [String], audience: String?
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.proof = proof
        self.kind = kind
        self.scopes = scopes
        self.audience = audience
    }
}

/// A Kerberos principal as the rule file states it: where its proof is to be found.
public struct ConfiguredKerberos: Sendable, Hashable {
    public enum Proof: Sendable, Hashable {
        /// A path.
        case keytab(String)
        /// The path of a cache that somebody else keeps current.
        case cache(String)
        case password(ValueSource)
    }

    public let principal: String
    public let proof: Proof

    public init(principal: String, proof: Proof) {
        self.principal = principal
        self.proof = proof
    }

    /// Whether the library is installed that principals need.
    public static var isSupported: Bool { GSSAPILibrary.isInstalled }
}
