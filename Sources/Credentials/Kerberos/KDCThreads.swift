import IO
import Synchronization

/// The threads on which KDCs are asked, a few for each realm: libkrb5 waits half a minute and longer for one that says
/// nothing, and those of other realms are not to wait with it.
enum KDCThreads {
    private static let pools = Mutex<[String: BlockingPool]>([:])
    private static let others = BlockingPool(threads: 4)
    private static let capacity = 16

    /// - Parameter principal: whose realm it is about; without one it is the default realm.
    static func pool(for principal: String) -> BlockingPool {
        let realm = realm(of: principal)
        return pools.withLock { pools in
            if let known = pools[realm] { return known }
            if pools.count >= capacity { return others }
            let pool = BlockingPool(threads: 4)
            pools[realm] = pool
            return pool
        }
    }

    /// Empty: the default realm.
    static func realm(of principal: String) -> String {
        principal.lastIndex(of: "@").map { String(principal[principal.index(after: $0)...]) } ?? ""
    }
}
