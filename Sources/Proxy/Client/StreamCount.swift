import Bytes
import HTTP2

/// The number of a loop's streams of HTTP/2 connections, in all and by client.
struct StreamCount {
    private var all = 0
    private var byAddress: [IPAddress?: Int] = [:]

    /// Counts a stream.
    /// - Parameter limit: the number of streams. A quarter is for one address, so that no client takes the place of all
    ///   others.
    /// - Returns: the streams of which there are too many; nil if there is room.
    mutating func begin(at address: IPAddress?, limit: Int) -> Shortage? {
        guard all < limit else { return .all }
        guard byAddress[address, default: 0] < max(1, limit / 4) else { return .address }
        all += 1
        byAddress[address, default: 0] += 1
        return nil
    }

    enum Shortage {
        /// The limit of all streams is reached.
        case all
        /// The limit of one address is reached.
        case address
    }

    mutating func end(at address: IPAddress?) {
        guard let count = byAddress[address] else { return }
        all -= 1
        byAddress[address] = count > 1 ? count - 1 : nil
    }
}

extension ServerConnection.Excess {
    /// The reason why the connection was closed, as a clause about it for operators.
    var words: String {
        let limit: String
        switch self {
        case .resets: limit = "streams that it resets"
        case .faults: limit = "malformed requests and frames"
        case .refusals: limit = "requests beyond the number that is served at once"
        case .settings: limit = "SETTINGS frames"
        case .frames: limit = "frames without content"
        case .fields: limit = "the size of a header section"
        case .violations: return "its frames violate the protocol"
        }
        return "it exceeded the limit of \(limit)"
    }
}
