import Crypto

/// The `Proxy-Authorization` that was accepted last on a connection: a client sends the same with every request, and it
/// need not be looked into again as long as nothing changes about the users. Only of schemes whose answer may be
/// repeated.
struct AcceptedAuthorization {
    let user: String
    private let value: Secret
    private let authentication: ClientAuthentication
    private let version: Int

    /// - Parameter version: that of the accounts before the value was looked into.
    init(_ value: Span<UInt8>, of user: String, by authentication: ClientAuthentication, version: Int) {
        self.user = user
        self.value = Secret(value)
        self.authentication = authentication
        self.version = version
    }

    /// Whether the value is this one and still good. Allocates nothing; takes the same time for all values of a length.
    func covers(_ value: Span<UInt8>, by authentication: ClientAuthentication) -> Bool {
        guard self.authentication === authentication, version == authentication.accounts.version else { return false }
        return self.value.withBytes { ConstantTime.equal($0, value) }
    }
}
