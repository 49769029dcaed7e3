/// Which answer a request carried, so that its outcome is judged against that and not against a newer one.
public struct AuthorizationTicket: Sendable, Hashable {
    /// The challenge that was answered, counted by its authenticator.
    let generation: UInt32
    /// How many answers to that challenge there were, this one included.
    let count: UInt32

    init(generation: UInt32 = 0, count: UInt32 = 0) {
        self.generation = generation
        self.count = count
    }
}
