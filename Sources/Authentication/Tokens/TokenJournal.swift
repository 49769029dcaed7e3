/// Keeps fetched tokens for other processes and for later ones. Its calls return at once; what they say may be written a
/// little later.
public protocol TokenJournal: Sendable {
    func fetched(_ token: FetchedToken)
}
