import Bytes
import Model

/// Credentials by protection space and user, one of them the space's default. A credential without a user, such as a
/// token or a certificate, has a name in place of the user. An exception for a server's key is named by its pin.
///
/// Implementations answer from any task; each call is atomic. Calls without `async` answer from memory, at once, with
/// any kind of storage.
public protocol CredentialStorage: Sendable {
    /// The space's credentials by user name, at this moment.
    func credentials(for space: ProtectionSpace) -> [ExactText: Credential]
    func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [ExactText: Credential]]
    /// All stored credentials of these kinds, at this moment. Credentials of other kinds are not decrypted.
    func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]]
    /// The credentials of Kerberos principals that have a ticket, at this moment. None is decrypted for that.
    var ticketHolders: [ProtectionSpace: [ExactText: Credential]] { get }
    func defaultCredential(for space: ProtectionSpace) -> Credential?
    /// The current version of the user's credential, or nil.
    func version(of user: String, for space: ProtectionSpace) -> CredentialVersion?
    /// Whether there is a credential for any space of the origin.
    func serves(_ origin: Origin) -> Bool
    /// A number that changes whenever the result of `serves` may change for some origin; never 0.
    var originGeneration: Int { get }

    /// Adds the credential, or replaces the one of the same user.
    func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError)
    /// Removes the user's credential. It is no error if the user has none.
    func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError)
    /// Adds the credential like `set` and makes it the space's default.
    func setDefault(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError)

    /// The changes from now on, in order. The stream ends when the consumer stops.
    func changes() -> AsyncStream<CredentialChange>
}

extension CredentialStorage {
    /// The default of the space. Without one, that of a more general space: of any realm and method, or of any port.
    public func proposedCredential(for space: ProtectionSpace) -> Credential? {
        if let found = defaultCredential(for: space) { return found }
        for space in space.moreGeneral {
            if let found = defaultCredential(for: space) { return found }
        }
        return nil
    }

    /// Whether there is a credential for any space of the origin, or of its host at any port.
    public func mayAnswer(_ origin: Origin) -> Bool { serves(origin) || serves(origin.onAnyPort) }
}

/// One change of a credential storage.
public struct CredentialChange: Sendable, Hashable {
    public enum Kind: Sendable, Hashable { case set, removed, madeDefault }

    public let kind: Kind
    public let space: ProtectionSpace
    private let exactUser: ExactText

    public var user: String { exactUser.text }

    public init(_ kind: Kind, space: ProtectionSpace, user: String) {
        self.kind = kind
        self.space = space
        exactUser = ExactText(user)
    }
}

/// An error of a storage.
public enum CredentialStorageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The storage keeps no credentials of that kind for the space, or the credential has no name to store it under.
    case unkept(credential: String)
    /// The storage cannot be reached or refused the operation. The text is fit for logs.
    case unavailable(String)
    /// A user stopped a change of many credentials before its end; no part of it is stored.
    case stopped

    public var description: String {
        switch self {
        case .unkept(let credential): "credential \(credential) cannot be stored for such a challenge"
        case .unavailable(let cause): "the credential store is unavailable: \(cause)"
        case .stopped: "the change was stopped, and nothing was stored"
        }
    }
}
