/// An operator's exception: a server with this key is trusted despite the problems of its certificate.
public struct TrustException: Hashable, Sendable {
    public let pin: KeyPin
    /// The last day of the exception.
    public let until: Day

    public init(pin: KeyPin, until: Day) {
        self.pin = pin
        self.until = until
    }
}
