import IO
import Synchronization

/// Counts the runs of programs that give secrets, over all rule files that were loaded.
public final class HelperRuns: Sendable {
    public static let all = HelperRuns()

    /// The result of a run. The raw value is the label of the metric.
    public enum Result: String, CaseIterable, Sendable {
        case success
        case failure
        case timeout

        init(_ error: HelperProgram.Failure) {
            if case .timedOut = error { self = .timeout } else { self = .failure }
        }
    }

    private let counts = Mutex<[HelperRuns.Result: Int]>([:])

    private init() {}

    func count(_ result: HelperRuns.Result) { counts.withLock { $0[result, default: 0] += 1 } }

    /// The number of runs with that result.
    public func count(of result: HelperRuns.Result) -> Int { counts.withLock { $0[result] ?? 0 } }
}
