import Bytes
import Crypto
import Model
import Synchronization

/// The refresh tokens that follow from a grant's own. An endpoint may send another one with each token, and refuse the
/// former one (RFC 6749 section 6). The family stays the same if the client changes its way to authenticate.
public struct RefreshTokenFamily: Sendable {
    /// The name of the credential.
    public var name: String { key.text }
    let key: ExactText
    let server: AuthorizationServer
    let clientID: String
    /// The grant's own refresh token.
    public let first: Secret

    /// Nil for a grant that is not a refresh token.
    public init?(of grant: TokenGrant, named name: String) {
        guard case .refreshToken(let first) = grant.kind else { return nil }
        key = ExactText(name)
        server = grant.server
        clientID = grant.clientID ?? ""
        self.first = first
    }

    /// The name of the family in a store.
    public var version: CredentialVersion {
        CredentialVersion(
            name: name,
            fingerprint: CredentialVersion.Fingerprint.of(["family", "\(server)", clientID], secrets: [first]))
    }

    func isSame(as other: RefreshTokenFamily) -> Bool {
        key == other.key && server == other.server && clientID.hasSameBytes(as: other.clientID)
            && first == other.first
    }

    /// The progress of a family's rotation.
    public struct Rotation: Sendable {
        /// The number of fetches with the family's tokens. Of two rotations the higher is current.
        public let generation: Int
        /// The token that the endpoint sent last; nil: the first one is still valid.
        public let token: Secret?

        public static let initial = RefreshTokenFamily.Rotation(generation: 0, token: nil)

        public init(generation: Int, token: Secret?) {
            self.generation = generation
            self.token = token
        }

        /// - Parameter token: the token that is valid from now on; nil: the first one.
        public func next(with token: Secret?) -> RefreshTokenFamily.Rotation {
            RefreshTokenFamily.Rotation(generation: generation &+ 1, token: token)
        }

        /// Whether the endpoint has answered without another token. Then it accepts the first one from several
        /// processes.
        var isConstant: Bool { generation > 0 && token == nil }
    }

    /// The rotations known to a process.
    final class Rotations: Sendable {
        private typealias Known = (family: RefreshTokenFamily, rotation: Rotation)

        /// The rotations by credential, the latest last: a rule file may return to a former token.
        private let known = Mutex<[ExactText: [Known]]>([:])

        private static let capacity = 4

        func rotation(of family: RefreshTokenFamily) -> Rotation {
            known.withLock { $0[family.key]?.last { $0.family.isSame(as: family) } }?.rotation ?? .initial
        }

        /// Adopts a rotation, if it is later than the known one.
        func advance(_ family: RefreshTokenFamily, to rotation: Rotation) {
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
}
