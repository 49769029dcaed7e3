import Bytes
import HTTP2

/// The number of a loop's streams of HTTP/2 connections, in all and by client.
struct StreamCount {
    private var all = 0
    private var byAddress: [IPAddress?: Int] = [:]

    private static let limit = 2000
    /// A quarter for one address, so that no client takes the place of all others.
    private static let addressLimit = 500

    /// Counts a stream.
    /// - Returns: false if there are too many.
    mutating func begin(at address: IPAddress?) -> Bool {
        guard all < Self.limit, byAddress[address, default: 0] < Self.addressLimit else { return false }
        all += 1
        byAddress[address, default: 0] += 1
        return true
    }

    mutating func end(at address: IPAddress?) {
        guard let count = byAddress[address] else { return }
        all -= 1
        byAddress[address] = count > 1 ? count - 1 : nil
    }
}

extension ServerConnection.Excess {
    /// The limit, for operators.
    var words: String {
        switch self {
        case .resets: "streams that it resets"
        case .faults: "malformed requests and frames"
        case .refusals: "requests beyond the number that is served at once"
        case .settings: "SETTINGS frames"
        case .frames: "frames without content"
        case .fields: "the size of a header section"
        }
    }
}
