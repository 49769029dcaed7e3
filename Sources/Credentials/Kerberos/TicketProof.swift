import Crypto
import GSSAPI
import IO

/// What a principal's first ticket is got with.
enum TicketProof: Sendable {
    /// A path.
    case keytab(String)
    /// The path of a cache that somebody else keeps current.
    case cache(String)
    case password(Secret)

    /// Asks the KDC, or looks into the cache. Blocks.
    ///
    /// - Parameter now: seconds since 1970.
    func acquire(_ principal: String, at now: Int) throws(GSSAPIError) -> TicketCache {
        switch self {
        case .keytab(let path): return try TicketCache.acquire(principal, keytab: path)
        case .password(let password):
            return try password.withBytes { bytes throws(GSSAPIError) in
                try TicketCache.acquire(principal, password: bytes)
            }
        case .cache(let path):
            let cache = try TicketCache.copy(principal, cache: path)
            guard cache.validity.upperBound > now else {
                throw GSSAPIError(.unavailable, "the tickets in \(path) have expired, and nobody renewed them")
            }
            return cache
        }
    }
}
