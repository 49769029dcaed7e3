import IO

/// Why there is no figure.
enum BenchError: Error, CustomStringConvertible {
    case usage(String)
    /// Something of this machine: a file, a tool, a port.
    case machine(String)
    /// A contestant did not start, died or answered wrongly.
    case contestant(String)
    case connection(IOError)
    case thresholds(String)

    var description: String {
        switch self {
        case .usage(let reason), .machine(let reason), .contestant(let reason), .thresholds(let reason): reason
        case .connection(let error): error.description
        }
    }
}
