import Bytes
import IO

/// The addresses of a name as far as they are known. Belongs to its loop.
public final class Resolution {
    /// Not empty. Grows while it is not complete.
    public private(set) var addresses: [IPAddress]
    /// Whether nothing more will come.
    public private(set) var isComplete: Bool
    private var wakeups: [Wakeup] = []

    /// - Parameter addresses: not empty.
    public init(_ addresses: [IPAddress], isComplete: Bool = true) {
        self.addresses = addresses
        self.isComplete = isComplete
    }

    /// Has it signalled when the rest is there.
    public func add(_ wakeup: Wakeup) {
        if !isComplete { wakeups.append(wakeup) }
    }

    /// Returns when nothing more will come, or nobody waits any more; a name server's time-outs bound that.
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
}

/// Why a name has no address. Divided as RFC 9209 section 2.3.1 divides it: no answer, or an answer that says no.
public enum ResolutionError: Error, Equatable, Sendable, CustomStringConvertible {
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
