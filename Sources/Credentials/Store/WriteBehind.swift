import Database
import IO
import Synchronization

/// Writes to a store a little later, for data that no request waits for. While the store is unavailable the writes
/// wait, up to a limit. At most one thread makes them.
final class WriteBehind: Sendable {
    typealias Write = @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Void

    private struct State {
        var writes: [Write] = []
        var isWriting = false
    }

    /// The database, for what is read or written at once, independent of the waiting writes.
    let database: any CredentialDatabase
    private let pool: BlockingPool
    let report: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// The limit of waiting writes, beyond which the oldest is dropped: each is worth only a challenge.
    private static let capacity = 8192

    init(_ database: any CredentialDatabase, pool: BlockingPool, report: @escaping @Sendable (String) -> Void) {
        self.database = database
        self.pool = pool
        self.report = report
    }

    func submit(_ write: @escaping Write) {
        let begins = state.withLock { state in
            if state.writes.count >= Self.capacity { state.writes.removeFirst() }
            state.writes.append(write)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { pool.submit { self.write() } }
    }

    /// Whether all writes are in the store.
    var isSettled: Bool { state.withLock { !$0.isWriting && $0.writes.isEmpty } }

    /// Whether writes wait until the store is available again.
    var isHeldUp: Bool { state.withLock { !$0.isWriting && !$0.writes.isEmpty } }

    /// Tries failed writes again.
    func flush() {
        let begins = state.withLock { state in
            guard !state.isWriting, !state.writes.isEmpty else { return false }
            state.isWriting = true
            return true
        }
        if begins { pool.submit { self.write() } }
    }

    private func write() {
        while true {
            let writes = state.withLock { state in
                defer { state.writes = [] }
                if state.writes.isEmpty { state.isWriting = false }
                return state.writes
            }
            if writes.isEmpty { return }
            let rest = write(writes)
            if !rest.isEmpty { return keep(rest) }
        }
    }

    /// - Returns: the writes that the store cannot take now.
    private func write(_ writes: [Write]) -> [Write] {
        do throws(DatabaseError) {
            try put(writes)
            return []
        } catch {
            switch error {
            case .unavailable, .full, .stopped: return writes
            case .unusable: return give(up: error)
            case .failed: if writes.count == 1 { return give(up: error) }
            }
        }
        // A refused change must not prevent the others that were to be written with it.
        for (index, write) in writes.enumerated() where !self.write([write]).isEmpty { return Array(writes[index...]) }
        return []
    }

    private func put(_ writes: [Write]) throws(DatabaseError) {
        try database.write { connection, revision throws(DatabaseError) in
            for write in writes { try write(connection, revision) }
        }
    }

    private func give(up error: DatabaseError) -> [Write] {
        report("cannot write to the credential store: \(error)")
        return []
    }

    private func keep(_ writes: [Write]) {
        state.withLock { state in
            state.writes = Array((writes + state.writes).suffix(Self.capacity))
            state.isWriting = false
        }
    }
}
