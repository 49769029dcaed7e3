/// The operator's word that a server may be trusted, whatever is found against its certificate, as long as it bears this key.
public struct TrustException: Hashable, Sendable {
    public let pin: KeyPin
    /// The last day.
    public let until: Day

    public init(pin: KeyPin, until: Day) {
        self.pin = pin
        self.until = until
    }
}
