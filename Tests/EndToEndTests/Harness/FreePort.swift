import Foundation
import Synchronization

/// Loopback ports below the kernel's ephemeral range, so that no outgoing connection takes one between choice and use.
enum FreePort {
    private static let next = Mutex(UInt16(10_000 + (getpid() % 190) * 100))

    static func take() -> UInt16 {
        while true {
            let port = next.withLock { port in
                port = port >= 31_900 ? 10_000 : port + 1
                return port
            }
            if let descriptor = try? Socket.listen(on: port) {
                close(descriptor)
                return port
            }
        }
    }
}
