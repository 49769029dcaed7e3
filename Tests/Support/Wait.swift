import Foundation

/// Waiting for what another process or thread will do: the only place where a test sleeps. The limit only ends a run that has
/// failed.
public enum Wait {
    /// Microseconds between two looks.
    private static let pause: UInt32 = 5000

    /// - Parameter seconds: after which it is false.
    public static func until(seconds: Double = 240, _ condition: () throws -> Bool) rethrows -> Bool {
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
