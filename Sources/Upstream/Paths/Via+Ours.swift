import HTTP

extension Via {
    /// The name of this proxy in `Proxy-Status`.
    public static let name = "attache"
    /// The pseudonym in `Via`. It differs for each process, so that a chain of two proxies is not mistaken for a loop.
    public static let pseudonym = "\(name)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    /// The pseudonym is a token, so there is a value.
    public static let ours = Via(pseudonym: pseudonym)!
}
