import Credentials
import IO
import TLS

/// The proxy's identity to clients in the tunnels that it looks into.
public final class InterceptionIdentity: Sendable {
    /// One for all, so that clients come back by the tickets they were given in an earlier tunnel.
    let context: ServerTLSContext
    public let authority: AuthorityStore

    /// - Parameter authority: open; when it changes, leaves are minted by the new one.
    public init(_ authority: AuthorityStore) throws(TLSError) {
        self.authority = authority
        context = try ServerTLSContext()
    }

    /// Whether the leaf for a name is there, so that nothing need be known of the origin to mint it.
    func hasLeaf(for name: ServerName) -> Bool { authority.leaves?.hasLeaf(for: name, at: Self.now) ?? false }

    /// The leaf for a name; minted off the loop if need be.
    /// - Parameter origin: the origin's certificate, if it was judged good.
    func leaf(for name: ServerName, like origin: Certificate?) async throws(AuthorityError) -> Identity {
        guard let leaves = authority.leaves else { throw .identity(.noCertificate) }
        return try await leaves.leaf(for: name, like: origin, at: Self.now) { minting in
            BlockingPool.shared.submit(minting)
        }
    }

    private static var now: Int { SystemClock.epochMilliseconds / 1000 }
}
