import Bytes

/// Credentials by protection space and user, one of them the space's default. What is no user's, as a token or a certificate,
/// has a name in the user's place; an exception for a server's key is named by its pin.
///
/// Implementations answer from any task; each call is atomic. What requests ask on their way is answered from memory, at
/// once, whatever the storage is made of.
public protocol CredentialStorage: Sendable {
    /// The space's credentials by user name, at this moment.
    func credentials(for space: ProtectionSpace) -> [ExactText: Credential]
    func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [ExactText: Credential]]
    /// All that is kept of these kinds, at this moment. Nothing of another kind is opened.
    func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]]
    /// Those of Kerberos principals that have a ticket, at this moment. Nothing is opened for it.
    var ticketHolders: [ProtectionSpace: [ExactText: Credential]] { get }
    func defaultCredential(for space: ProtectionSpace) -> Credential?
    /// Which value the user's credential has at this moment, or nil.
    func version(of user: String, for space: ProtectionSpace) -> CredentialVersion?
    /// Whether there is a credential for any space of the origin.
    func serves(_ origin: Origin) -> Bool
    /// Another number whenever `serves` may answer otherwise for some origin; never 0.
    var originGeneration: Int { get }

    /// Adds the credential, or replaces the one of the same user.
    func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError)
    /// Removes the user's credential; that there is none is no error.
    func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError)
    /// Adds the credential like `set` and makes it the space's default.
    func setDefault(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError)

    /// Every change from now on, in order. Ends when the consumer stops.
    func changes() -> AsyncStream<CredentialChange>
}

extension CredentialStorage {
    /// The default of the space or, without one, that of a more general space: of any realm and method, or of any port.
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

/// A failure of a store.
public enum CredentialStorageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is of no kind that is kept for that space, or has no name to keep it under.
    case unkept(credential: String)
    /// The store cannot be reached or refused the operation; the text is fit for logs.
    case unavailable(String)
    /// Somebody stopped the change of many before its end; nothing of it is kept.
    case stopped

    public var description: String {
        switch self {
        case .unkept(let credential): "credential \(credential) cannot be stored for such a challenge"
        case .unavailable(let cause): "the credential store is unavailable: \(cause)"
        case .stopped: "the change was stopped, and nothing was stored"
        }
    }
}
