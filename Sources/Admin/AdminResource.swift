import Bytes

/// What there is on the administrator's listener.
enum AdminResource: Equatable {
    case index
    case health
    case readiness
    case metrics
    case practice(PracticeSpace)

    /// The resource at a path, which has no query; nil where there is nothing.
    init?(path: [UInt8]) {
        let path = path.span
        if path.equals("/") {
            self = .index
        } else if path.equals("/healthz") {
            self = .health
        } else if path.equals("/readyz") {
            self = .readiness
        } else if path.equals("/metrics") {
            self = .metrics
        } else if let space = PracticeSpace.allCases.first(where: { $0.contains(path) }) {
            self = .practice(space)
        } else {
            return nil
        }
    }
}
