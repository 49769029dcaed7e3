import Database
import IO

/// A connection that is made when it is needed, and made anew after it was lost.
struct PostgreSQLSession {
    private let info: String
    /// Said on every new connection.
    private let greeting: String?
    private var connection: PostgreSQLConnection?
    /// No attempt before then, on the clock that nobody sets back.
    private var retryAt = 0
    /// How long to wait after the next attempt that fails.
    private var pause = Self.shortestPause

    /// Milliseconds.
    private static let shortestPause = 100
    private static let longestPause = 1000

    init(_ info: String, _ connection: PostgreSQLConnection?, greeting: String? = nil) {
        self.info = info
        self.connection = connection
        self.greeting = greeting
    }

    /// Connections made so far: whoever listens on one missed what was said between two.
    private(set) var generation = 0

    /// Lends the connection. What fails on one that was kept is done again on a new one: the server may have been
    /// started anew meanwhile, and nothing that is done here does harm twice.
    mutating func use<Value>(
        _ body: @Sendable (PostgreSQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        if let kept = connection {
            do throws(DatabaseError) { return try body(kept) } catch {
                guard case .unavailable = error else { throw error }
                connection = nil
            }
        }
        let fresh = try connect()
        do throws(DatabaseError) { return try body(fresh) } catch {
            if case .unavailable = error { connection = nil }
            throw error
        }
    }

    private mutating func connect() throws(DatabaseError) -> PostgreSQLConnection {
        let now = SystemClock.uptimeMilliseconds
        guard now >= retryAt else { throw .unavailable("the connection was lost and is made anew soon") }
        do throws(DatabaseError) {
            let fresh = try PostgreSQLConnection(info)
            if let greeting { try fresh.rows(greeting) }
            connection = fresh
            generation += 1
            pause = Self.shortestPause
            return fresh
        } catch {
            retryAt = now + pause
            pause = min(pause * 2, Self.longestPause)
            throw error
        }
    }
}
