/// On what terms a `challenge` trusts a server's chain. Immutable and shared; two rules with equal terms are the same to
/// whoever keeps connections.
///
/// The chain is evaluated with `anchors` and for `name`. It is trusted when every finding is in `allow` and, if there
/// are `pins`, one of them is the server's key.
public final class TrustTerms: Sendable, Hashable {
    /// The findings that are forgiven; `weak` has become the two it stands for.
    public let allow: TrustFindings
    /// Any one of them must be the server's key; empty: any key.
    public let pins: [KeyPin]
    /// Files with certificates, PEM, that are trusted as roots.
    public let anchors: [String]
    /// Whether the anchors stand in the place of the system's, and not beside them.
    public let hasOnlyItsAnchors: Bool
    /// The name or address, in lower case, to be found in the certificate; nil: that of the request.
    public let name: String?
    /// The last day on which the rule applies; nil: it always does.
    public let until: Day?

    public init(
        allow: TrustFindings = [], pins: [KeyPin] = [], anchors: [String] = [], hasOnlyItsAnchors: Bool = false,
        name: String? = nil, until: Day? = nil
    ) {
        self.allow = allow
        self.pins = pins
        self.anchors = anchors
        self.hasOnlyItsAnchors = hasOnlyItsAnchors
        self.name = name
        self.until = until
    }

    /// Whether the rule applies on that day. Nil, an unknown day, is behind every `until`.
    public func apply(on today: Day?) -> Bool {
        guard let until else { return true }
        return today.map { $0 <= until } ?? false
    }

    public static func == (left: TrustTerms, right: TrustTerms) -> Bool {
        left === right
            || left.allow == right.allow && left.pins == right.pins && left.anchors == right.anchors
                && left.hasOnlyItsAnchors == right.hasOnlyItsAnchors && left.name == right.name
                && left.until == right.until
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(allow)
        hasher.combine(pins)
        hasher.combine(anchors)
        hasher.combine(hasOnlyItsAnchors)
        hasher.combine(name)
        hasher.combine(until)
    }
}
