/// How many connections one loop may still keep unused, over all its origins: each is a descriptor that a client may
/// need.
final class IdleRoom {
    var places: Int
    private let identities: IdentityGeneration

    init(places: Int, identities: IdentityGeneration = IdentityGeneration()) {
        self.places = places
        self.identities = identities
    }

    /// Whether a connection made under these terms could still serve somebody: the certificates that could be shown are
    /// those of then.
    func suits(_ terms: ConnectionTerms) -> Bool { terms.identities == 0 || terms.identities == identities.number }
}
