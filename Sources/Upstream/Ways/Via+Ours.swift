import HTTP

extension Via {
    /// The name under which this proxy stands in `Proxy-Status`.
    public static let name = "attache"
    /// Another for each process, so that a chain of two is not taken for a circle.
    public static let pseudonym = "\(name)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    /// The pseudonym is a token, so there is a value.
    public static let ours = Via(pseudonym: pseudonym)!
}
