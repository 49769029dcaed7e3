/// Credentials by protection space and user, one of them the space's default.
///
/// Implementations answer from any task; each call is atomic. What requests ask on their way is answered from memory, at
/// once, whatever the storage is made of.
public protocol CredentialStorage: Sendable {
    /// The space's credentials by user name.
    func credentials(for space: ProtectionSpace) async throws(CredentialStorageError) -> [String: Credential]
    func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [String: Credential]]
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
