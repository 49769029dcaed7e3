import Foundation
import Synchronization

/// A name server on loopback that answers A queries from a function and says "no such name" to all others.
final class NameServer: Sendable {
    let port: UInt16
    private let log = Mutex<[String]>([])
    private let descriptor: Int32

    /// What was asked, as `name/type`.
    var queries: [String] { log.withLock { $0 } }

    init(_ answer: @escaping @Sendable (String) -> (address: [UInt8], ttl: UInt8)?) throws {
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
        Thread.detachNewThread { [self] in
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
                let reply = self.reply(to: Array(query[..<count]), answer)
                withUnsafeMutablePointer(to: &peer) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = sendto(descriptor, reply, reply.count, 0, $0, length)
                    }
                }
            }
        }
    }

    private func reply(to query: [UInt8], _ answer: (String) -> (address: [UInt8], ttl: UInt8)?) -> [UInt8] {
        var place = 12
        var labels: [String] = []
        while place < query.count, query[place] != 0 {
            let length = Int(query[place])
            labels.append(String(decoding: query[(place + 1)...(place + length)], as: UTF8.self))
            place += length + 1
        }
        let type = Int(query[place + 1]) << 8 | Int(query[place + 2])
        let name = labels.joined(separator: ".").lowercased()
        log.withLock { $0.append("\(name)/\(type)") }
        let question = query[12..<(place + 5)]
        let known = answer(name)
        let header: (UInt8, [UInt8]) -> [UInt8] = { code, counts in
            query[0..<2] + [0x81, 0x80 | code] + [0, 1] + counts
        }
        guard let known else { return header(3, [0, 0, 0, 0, 0, 0]) + question }
        guard type == 1 else { return header(0, [0, 0, 0, 0, 0, 0]) + question }
        return header(0, [0, 1, 0, 0, 0, 0]) + question + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, known.ttl, 0, 4]
            + known.address
    }
}
