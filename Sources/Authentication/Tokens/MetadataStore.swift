import Bytes
import Synchronization

/// Metadata documents by the URL that names them. One request reads a document for all. Every call is atomic. A caller
/// that must read does so, and reports by `land`.
public final class MetadataStore<Document: Sendable>: Sendable {
    /// The next step of a request that needs a document.
    public enum Supply {
        case known(Result<Document, TokenError>)
        /// Wait, then ask again; read the document first if `reads` is true.
        case wait(FlightWaiter, reads: Bool)
    }

    private struct Entry {
        var outcome: Result<Document, TokenError>?
        /// The time at which the outcome expires.
        var end = WallTime.distantPast
        /// The waiters for the read in progress; nil if none is.
        var waiters: [FlightWaiter]?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The time for which a document is kept, and the pause after a failure that may be temporary.
    private static var lifetime: Milliseconds { .hours(1) }
    private static var pause: Milliseconds { .seconds(5) }
    private static var capacity: Int { 256 }

    public init() {}

    /// - Parameter name: the URL that names the document.
    public func supply(for name: String, at now: WallTime) -> Supply {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries = entries.filter { $0.value.waiters != nil } }
            var entry = entries.removeValue(forKey: name) ?? Entry()
            defer { entries[name] = entry }
            if let outcome = entry.outcome, now < entry.end { return .known(outcome) }
            let waiter = FlightWaiter()
            let reads = entry.waiters == nil
            entry.waiters = entry.waiters ?? []
            entry.waiters?.appendForgetting(waiter)
            return .wait(waiter, reads: reads)
        }
    }

    /// Stores the result of a read. Waiting requests ask again.
    public func land(_ outcome: Result<Document, TokenError>, for name: String, at now: WallTime) {
        var lifetime = Self.lifetime
        if case .failure(let error) = outcome, !error.isDefinite { lifetime = Self.pause }
        let waiters = entries.withLock { entries -> [FlightWaiter] in
            let waiters = entries[name]?.waiters ?? []
            entries[name] = Entry(outcome: outcome, end: now + lifetime)
            return waiters
        }
        for waiter in waiters { waiter.promise.keep(.settled(.accepted)) }
    }

    /// Has the document read again when it is next needed.
    public func forget(_ name: String) {
        entries.withLock { $0[name]?.outcome = nil }
    }

    /// Has the documents read again that could not be used.
    public func retry() {
        entries.withLock { entries in
            for (name, entry) in entries {
                if case .failure? = entry.outcome { entries[name]?.outcome = nil }
            }
        }
    }
}

extension TokenError {
    /// Whether the error lasts until the metadata changes.
    public var isDefinite: Bool {
        switch self {
        case .undiscovered(_, _, isDefinite: true), .unannounced(_, isDefinite: true): true
        default: false
        }
    }
}
