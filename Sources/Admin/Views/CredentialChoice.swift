import Authentication

/// The versions that an `attache credential retry` selects.
public struct CredentialChoice: Sendable {
    /// The names of the servers; nil: any server.
    private let servers: [String]?
    /// A credential's name, or the user of a stored one; nil: any.
    private let name: String?

    /// - Parameters:
    ///   - origin: the server, as an origin or as a proxy.
    ///   - kdc: the KDC, such as `krb5:EXAMPLE.COM`, if it is the server.
    public init(origin: Origin?, kdc: String? = nil, name: String?) {
        let names = origin.map { origin in
            [false, true].map { isProxy in
                Origin(host: origin.host, port: origin.port, protocol: origin.protocol, isProxy: isProxy).serverName
            }
        }
        servers = kdc.map { [$0] } ?? names
        self.name = name
    }

    public func fits(_ version: CredentialVersion, _ account: Account) -> Bool {
        if let servers, !servers.contains(where: { account.record(of: $0) != nil }) { return false }
        guard let name, !version.isNamed(name) else { return true }
        guard version.name.hasPrefix("\(name)@") else { return false }
        return !version.name.dropFirst(name.count + 1).contains("@")
    }
}
