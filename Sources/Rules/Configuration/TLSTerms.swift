/// `tls` in a `route`: how TLS is spoken with its origins. Immutable and shared: connections made under equal terms are
/// the same to whoever keeps them.
public final class TLSTerms: Sendable, Hashable {
    /// The oldest version that may be spoken; nil: the default, 1.2.
    public let minimum: TLSVersion?
    /// Files with certificate revocation lists, PEM or DER, to look a chain's certificates up in.
    public let revocation: [String]

    public init(minimum: TLSVersion? = nil, revocation: [String] = []) {
        self.minimum = minimum
        self.revocation = revocation
    }

    public static func == (left: TLSTerms, right: TLSTerms) -> Bool {
        left === right || left.minimum == right.minimum && left.revocation == right.revocation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(minimum)
        hasher.combine(revocation)
    }
}
