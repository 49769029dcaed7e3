/// Whether the proxy may connect to an address, and why.
public enum EgressDecision: Sendable, Equatable {
    /// No entry speaks of the address.
    case permitted
    case permittedBy(RuleReference)
    case refusedBy(RuleReference)
    /// The class is refused unless the rule file allows it.
    case refusedByDefault(AddressClass)

    public var isPermitted: Bool {
        switch self {
        case .permitted, .permittedBy: true
        case .refusedBy, .refusedByDefault: false
        }
    }

    /// One lower-case sentence without a period.
    public var reason: String {
        switch self {
        case .permitted: "no egress entry speaks of the address"
        case .permittedBy(let rule): "allowed by \(rule)"
        case .refusedBy(let rule): "denied by \(rule)"
        case .refusedByDefault(let addressClass):
            "\(addressClass.rawValue) addresses are refused unless an egress entry allows them"
        }
    }
}
