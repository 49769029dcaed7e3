import HTTP

extension Via {
    /// The name under which this proxy stands in `Via` and `Proxy-Status`.
    static let pseudonym = "attache"
    /// The pseudonym is a token, so there is a value.
    static let ours = Via(pseudonym: pseudonym)!
}
