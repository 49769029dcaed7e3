import Foundation

/// Waiting for what another process or thread will do; the limit only ends a run that has failed.
enum Wait {
    static func until(seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while try !condition() {
            guard Date() < deadline else { return false }
            usleep(10_000)
        }
        return true
    }
}
