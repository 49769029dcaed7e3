import Bytes
import Crypto
import Model
import Synchronization

/// The refresh tokens that follow from a grant's own: an endpoint may give another one with each token, and take the one
/// before no more (RFC 6749 section 6). It goes on where the client proves itself in another way.
public struct RefreshTokenFamily: Sendable {
    /// The name of the credential.
    public var name: String { key.text }
    let key: ExactText
    let endpoint: HTTPEndpoint
    let clientID: String
    /// The grant's own.
    public let first: Secret

    /// Nil for a grant that is no refresh token.
    public init?(of grant: TokenGrant, named name: String) {
        guard case .refreshToken(let first) = grant.kind else { return nil }
        key = ExactText(name)
        endpoint = grant.endpoint
        clientID = grant.clientID
        self.first = first
    }

    /// The name of the family in a store.
    public var version: CredentialVersion {
        CredentialVersion(
            name: name, fingerprint: CredentialFingerprint.of(["family", "\(endpoint)", clientID], secrets: [first]))
    }

    func isSame(as other: RefreshTokenFamily) -> Bool {
        key == other.key && "\(endpoint)" == "\(other.endpoint)" && clientID.hasSameBytes(as: other.clientID)
            && first == other.first
    }
}

/// How far the tokens of a family have come.
public struct RefreshTokenRotation: Sendable {
    /// Counts the fetches with them: of two rotations the later one is right.
    public let generation: Int
    /// The token that the endpoint gave last; nil: the first one is still right.
    public let token: Secret?

    public static let initial = RefreshTokenRotation(generation: 0, token: nil)

    public init(generation: Int, token: Secret?) {
        self.generation = generation
        self.token = token
    }

    /// - Parameter token: the right one from now on; nil: the first one.
    public func next(with token: Secret?) -> RefreshTokenRotation {
        RefreshTokenRotation(generation: generation &+ 1, token: token)
    }

    /// Whether the endpoint has answered, and never given another one: then it takes the first from several processes.
    var isConstant: Bool { generation > 0 && token == nil }
}

/// The rotations that a process knows of.
final class RefreshTokenRotations: Sendable {
    private typealias Known = (family: RefreshTokenFamily, rotation: RefreshTokenRotation)

    /// By credential, the latest last: a rule file may go back to the one before.
    private let known = Mutex<[ExactText: [Known]]>([:])

    private static let capacity = 4

    func rotation(of family: RefreshTokenFamily) -> RefreshTokenRotation {
        known.withLock { $0[family.key]?.last { $0.family.isSame(as: family) } }?.rotation ?? .initial
    }

    /// Takes over a rotation, if it is later than the known one.
    func advance(_ family: RefreshTokenFamily, to rotation: RefreshTokenRotation) {
        known.withLock { known in
            var others = known[family.key] ?? []
            if let index = others.firstIndex(where: { $0.family.isSame(as: family) }) {
                guard others[index].rotation.generation < rotation.generation else { return }
                others.remove(at: index)
            }
            known[family.key] = others.suffix(Self.capacity - 1) + [(family, rotation)]
        }
    }
}
