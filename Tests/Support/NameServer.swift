import Foundation
import Synchronization

/// A name server on loopback that answers A and AAAA queries from a function.
public final class NameServer: Sendable {
    public enum RecordType: UInt16, Sendable {
        case a = 1
        case aaaa = 28
    }

    public enum Reply: Sendable {
        /// The bytes of addresses, each with that TTL in seconds; empty if the name has no record of this type.
        case addresses([[UInt8]], seconds: UInt8 = 60)
        /// A response code other than 0: 2 is SERVFAIL, 3 NXDOMAIN, 5 REFUSED (RFC 1035 section 4.1.1).
        case code(UInt8)
        /// None.
        case silence
        /// The reply comes once `release` is called.
        indirect case held(Reply)
    }

    public let port: UInt16
    private let state = Mutex(State())
    private let descriptor: Int32
    private let answer: @Sendable (String, RecordType) -> Reply

    private struct State {
        var queries: [String] = []
        var held: [(reply: [UInt8], peer: sockaddr_in)] = []
        var isReleased = false
    }

    /// The names of all queries so far, as `name/type`.
    public var queries: [String] { state.withLock { $0.queries } }

    public func count(of name: String, _ type: RecordType) -> Int {
        queries.count { $0 == "\(name)/\(type.rawValue)" }
    }

    /// - Parameter answer: given the name in lower case.
    public init(_ answer: @escaping @Sendable (String, RecordType) -> Reply) {
        self.answer = answer
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, size) = (descriptor, length)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(socket, $0, size)
                getsockname(socket, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve() }
    }

    /// Sends the replies that were held, and those that would be from now on.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isReleased = true
            return state.held
        }
        for (reply, peer) in held { send(reply, to: peer) }
    }

    private func serve() {
        var query = [UInt8](repeating: 0, count: 1500)
        while true {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &query, query.count, 0, $0, &length)
                }
            }
            guard count > 12 else { return }
            take(Array(query[..<count]), from: peer)
        }
    }

    private func send(_ reply: [UInt8], to peer: sockaddr_in) {
        var peer = peer
        withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, reply, reply.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func take(_ query: [UInt8], from peer: sockaddr_in) {
        var place = 12
        var labels: [String] = []
        while place < query.count, query[place] != 0 {
            let length = Int(query[place])
            labels.append(String(decoding: query[(place + 1)...(place + length)], as: UTF8.self))
            place += length + 1
        }
        let number = UInt16(query[place + 1]) << 8 | UInt16(query[place + 2])
        let name = labels.joined(separator: ".").lowercased()
        state.withLock { $0.queries.append("\(name)/\(number)") }
        guard let type = RecordType(rawValue: number) else { return }
        let question = Array(query[12..<(place + 5)])
        var reply = answer(name, type)
        var isHeld = false
        if case .held(let inner) = reply { (reply, isHeld) = (inner, true) }
        guard let bytes = Self.bytes(of: reply, to: Array(query[0..<2]), question, type) else { return }
        let isKept = state.withLock { state in
            if isHeld, !state.isReleased { state.held.append((bytes, peer)) }
            return isHeld && !state.isReleased
        }
        if !isKept { send(bytes, to: peer) }
    }

    private static func bytes(
        of reply: Reply, to identifier: [UInt8], _ question: [UInt8], _ type: RecordType
    ) -> [UInt8]? {
        switch reply {
        case .silence, .held: return nil
        case .code(let code):
            let counts: [UInt8] = [0, 1, 0, 0, 0, 0, 0, 0]
            return identifier + [0x81, 0x80 | code] + counts + question
        case .addresses(let addresses, let seconds):
            let counts: [UInt8] = [0, 1, 0, UInt8(addresses.count), 0, 0, 0, 0]
            var message: [UInt8] = identifier + [0x81, 0x80] + counts + question
            for address in addresses {
                message += [0xC0, 12, 0, UInt8(type.rawValue), 0, 1]
                message += [0, 0, 0, seconds, 0, UInt8(address.count)]
                message += address
            }
            return message
        }
    }
}
