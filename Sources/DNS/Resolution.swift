import Bytes
import IO

/// The known addresses of a name. Belongs to its loop.
public final class Resolution {
    /// The addresses; not empty. More may follow until `isComplete`.
    public private(set) var addresses: [IPAddress]
    /// Whether no more addresses will come.
    public private(set) var isComplete: Bool
    private var wakeups: [Wakeup] = []

    /// - Parameter addresses: not empty.
    public init(_ addresses: [IPAddress], isComplete: Bool = true) {
        self.addresses = addresses
        self.isComplete = isComplete
    }

    /// Signals the wake-up when all addresses are there.
    public func add(_ wakeup: Wakeup) {
        if !isComplete { wakeups.append(wakeup) }
    }

    /// Returns when no more addresses will come, or when the wake-up is cancelled. The time-outs of name servers limit
    /// the wait.
    public func complete(waking wakeup: Wakeup) async {
        add(wakeup)
        while !isComplete, !wakeup.isCancelled { await wakeup.wait() }
    }

    func complete(with rest: [IPAddress]) {
        addresses += rest
        isComplete = true
        for wakeup in wakeups { wakeup.signal() }
        wakeups = []
    }

    /// The reason why a name has no address, divided as in RFC 9209 section 2.3.1: no answer, or a negative answer.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The name servers answered that the name does not exist or has no address.
        case noSuchName(String)
        /// No name server answered in time, or none is configured or reachable.
        case noAnswer(String)
        /// The answer could not be used, or the resolver could not work.
        case failed(String, reason: String)

        public var description: String {
            switch self {
            case .noSuchName(let name): "the host name \(name) does not exist"
            case .noAnswer(let name): "no name server answered for \(name)"
            case .failed(let name, let reason): "the host name \(name) could not be resolved: \(reason)"
            }
        }
    }
}
