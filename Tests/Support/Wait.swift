import Foundation

/// Waiting for what another process or thread will do: the only place where a test sleeps. The limit only ends a run that has
/// failed.
public enum Wait {
    /// Microseconds between two looks.
    public static let pause: UInt32 = 5000

    /// - Parameters:
    ///   - seconds: after which it is false.
    ///   - pause: microseconds between two looks.
    public static func until(
        seconds: Double = 240, every pause: UInt32 = pause, _ condition: () throws -> Bool
    ) rethrows -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while try !condition() {
            guard Date() < deadline else { return false }
            usleep(pause)
        }
        return true
    }

    /// Waits for a condition whose check is asynchronous.
    public static func until(seconds: Double = 240, _ condition: () async throws -> Bool) async rethrows -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while try await !condition() {
            guard Date() < deadline else { return false }
            try? await Task.sleep(for: .microseconds(Int64(pause)))
        }
        return true
    }
}
