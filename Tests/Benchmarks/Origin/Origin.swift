import IO
import Synchronization

/// The server behind the contestants, on its own loop. It has `/small` (1 KiB), `/body-16k` to `/body-1m`, and `/large`
/// (100 MiB). Clients that prove that they know the password get `/basic` and `/digest`, and those with the token of `/token` get `/bearer` (1 KiB each). On connections
/// that are logged in, there are `/ntlm` (1 KiB) and `/ntlm-medium` (64 KiB). Below `/ask/` each path is a Basic space
/// that accepts no password. `/silent` is not answered.
final class Origin: Sendable {
    let content = OriginContent()
    let digest = DigestGuard(path: "/digest")
    /// Requests to `/basic`, `/bearer` and `/digest` that were answered with 401.
    let challenges = Atomic(0)
    /// Requests to `/silent`.
    let unanswered = Atomic(0)
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
