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
