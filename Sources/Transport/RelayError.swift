import IO

/// Which side of a relay failed: the one the bytes come from, or the one they go to.
public enum RelayError: Error, Equatable, Sendable {
    case source(IOError)
    case target(IOError)
}
