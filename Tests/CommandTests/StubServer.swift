import Foundation

/// A server on this machine that gives every connection the same response, until the object is released.
final class StubServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    struct Failure: Error {}

    /// - Parameter answer: nil accepts connections and stays silent.
    init(answer: String?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        if let answer { Thread.detachNewThread { Self.serve(descriptor, Array(answer.utf8)) } }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func serve(_ descriptor: Int32, _ answer: [UInt8]) {
        while true {
            let connection = accept(descriptor, nil, nil)
            if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard connection >= 0 else { break }
            var request = [UInt8](repeating: 0, count: 4096)
            if recv(connection, &request, request.count, 0) > 0 {
                _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            }
            close(connection)
        }
        close(descriptor)
    }
}
