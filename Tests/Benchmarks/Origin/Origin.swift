import IO
import Synchronization

/// The server behind the contestants, on a loop of its own: `/small` (1 KiB), `/body-16k` to `/body-1m`, `/large` (100 MiB); for clients that prove that they know the password `/basic` and `/digest` (1 KiB each); and, on connections
/// that are logged in, `/ntlm` (1 KiB) and `/ntlm-medium` (64 KiB); below `/ask/` a Basic space for each path, which
/// nobody gets into.
final class Origin: Sendable {
    let content = OriginContent()
    let digest = DigestGuard(path: "/digest")
    /// Requests to `/basic` and `/digest` that were answered with 401.
    let challenges = Atomic(0)
    /// Connections that were accepted.
    let connections = Atomic(0)
    /// Connections that logged in by NTLM, each time they did.
    let logins = Atomic(0)

    /// Listens on a port that the system chooses.
    /// - Returns: that port.
    func listen(on loop: EventLoop) throws(IOError) -> UInt16 {
        try Listener(.loopback(0), on: loop) { [self] accepted in
            connections.add(1, ordering: .relaxed)
            loop.spawn {
                guard let connection = try? OriginConnection(takingOwnership: accepted.descriptor, of: self, on: loop)
                else {
                    return
                }
                await connection.serve()
            }
        }.address.port
    }
}
