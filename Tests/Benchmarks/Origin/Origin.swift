import IO
import Synchronization

/// The server behind the contestants, on a loop of its own: `/small` (1 KiB), `/large` (100 MiB) and `/digest` (1 KiB,
/// for those who prove that they know the password).
final class Origin: Sendable {
    let content = OriginContent()
    let digest = DigestGuard(path: "/digest")
    /// Requests to `/digest` that were answered with 401.
    let challenges = Atomic(0)

    /// Listens on a port that the system chooses.
    /// - Returns: that port.
    func listen(on loop: EventLoop) throws(IOError) -> UInt16 {
        try Listener(.loopback(0), on: loop) { [self] descriptor in
            loop.spawn {
                guard let connection = try? OriginConnection(takingOwnership: descriptor, of: self, on: loop) else {
                    return
                }
                await connection.serve()
            }
        }.address.port
    }
}
