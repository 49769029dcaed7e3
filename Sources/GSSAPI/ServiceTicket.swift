/// A ticket that is at hand.
public struct ServiceTicket: Sendable, Hashable {
    /// The service's full name, with the realm.
    public let name: String
    /// Seconds since 1970.
    public let validity: Range<Int>
}
