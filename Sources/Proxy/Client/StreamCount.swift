import Bytes
import HTTP2

/// The number of a loop's streams of HTTP/2 connections, in all and by client.
struct StreamCount {
    /// The streams of one address, for its connections.
    final class Share {
        let address: IPAddress?
        fileprivate var connections = 0
        fileprivate var streams = 0

        fileprivate init(of address: IPAddress?) { self.address = address }
    }

    private var all = 0
    private var shares: [IPAddress?: Share] = [:]

    /// Notes a connection, which must leave at its end.
    mutating func join(from address: IPAddress?) -> Share {
        let share = shares[address] ?? Share(of: address)
        shares[address] = share
        share.connections += 1
        return share
    }

    /// Ends a connection. Streams of it may go on.
    mutating func leave(_ share: Share) {
        share.connections -= 1
        forget(share)
    }

    /// Counts a stream.
    /// - Parameter limit: the number of streams. A quarter is for one address, so that no client takes the place of all
    ///   others.
    /// - Returns: the streams of which there are too many; nil if there is room.
    mutating func begin(in share: Share, limit: Int) -> Shortage? {
        guard all < limit else { return .all }
        guard share.streams < max(1, limit / 4) else { return .address }
        all += 1
        share.streams += 1
        return nil
    }

    enum Shortage {
        /// The limit of all streams is reached.
        case all
        /// The limit of one address is reached.
        case address
    }

    mutating func end(in share: Share) {
        all -= 1
        share.streams -= 1
        forget(share)
    }

    private mutating func forget(_ share: Share) {
        if share.connections == 0, share.streams == 0 { shares[share.address] = nil }
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
