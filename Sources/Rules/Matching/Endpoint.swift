import Bytes

/// An address and a port to listen on.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    public let address: IPAddress
    /// The port; zero for any free one.
    public let port: UInt16

    public init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Parses `127.0.0.1:3128` or `[::1]:3128`.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: .colon) else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0.isDigit }), let port = UInt16(digits)
        else { return nil }
        var host = text[..<colon]
        if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.contains(.colon) else { return nil }
        } else if host.utf8.contains(.colon) {
            return nil
        }
        guard let address = IPAddress(host) else { return nil }
        self.init(address, port)
    }

    public var description: String {
        address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
