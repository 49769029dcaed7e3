/// Keeps refusals for other processes and for later ones. Its calls return at once; what they say may be written a
/// little later.
public protocol RefusalJournal: Sendable {
    func parked(_ entry: ParkedCredentials.Entry)
    /// Every refusal of that name's other versions is void.
    func replaced(by version: CredentialVersion)
    func unparkedAll()
}
