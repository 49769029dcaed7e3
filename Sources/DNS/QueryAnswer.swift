import Bytes
import CCares
import IO

/// What c-ares made of one query.
struct QueryAnswer {
    var addresses: [IPAddress] = []
    /// The shortest TTL.
    var seconds = Int(Int32.max)
    private let status: Int32

    private static let capacity = 64

    init(status: Int32, list: UnsafeMutablePointer<ares_addrinfo>?) {
        self.status = status
        var next = list?.pointee.nodes
        while let node = next, addresses.count < Self.capacity {
            if let system = node.pointee.ai_addr, let address = SocketAddress(system: system) {
                addresses.append(address.address)
                seconds = min(seconds, Int(node.pointee.ai_ttl))
            }
            next = node.pointee.ai_next
        }
    }

    /// Both families' answers as one.
    init(_ six: QueryAnswer, _ four: QueryAnswer) {
        status = four.status
        addresses = six.addresses + four.addresses
        seconds = min(six.seconds, four.seconds)
    }

    /// Whether the name does not exist, of whatever type.
    var saysNoName: Bool { status == cares_not_found }
    /// Whether it stands for every failure of a server.
    var hasNoReason: Bool { status == cares_connection_refused }

    /// Why there are no addresses.
    func error(for name: String) -> ResolutionError {
        if cares_is_no_such_name(status) != 0 { return .noSuchName(name) }
        if cares_is_no_answer(status) != 0 { return .noAnswer(name) }
        return .failed(name, reason: String(cString: ares_strerror(status)))
    }
}
