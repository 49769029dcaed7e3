/// Keeps what is learned of spaces for other processes and for later ones. Its calls return at once; what they say may be
/// written a little later.
public protocol SpaceJournal: Sendable {
    /// All that is known of the space, of which something is new.
    func learned(_ space: LearnedSpace)
}
