import Bytes

/// Where a server is. No other address is connected to, whatever the server or its name say.
public struct FTPServer: Sendable {
    /// A name, or an address without brackets.
    public let host: String
    public let port: UInt16
    public let addresses: [IPAddress]

    public init(host: String, port: UInt16, addresses: [IPAddress]) {
        self.host = host
        self.port = port
        self.addresses = addresses
    }

    var bracketedHost: String { host.utf8.contains(.colon) ? "[\(host)]" : host }

    /// What keeps libcurl from asking for the name; nil for an address.
    var resolution: String? {
        guard IPAddress(host) == nil else { return nil }
        let texts = addresses.map { $0.family == .v4 ? "\($0)" : "[\($0)]" }
        return "\(host):\(port):\(texts.joined(separator: ","))"
    }
}
