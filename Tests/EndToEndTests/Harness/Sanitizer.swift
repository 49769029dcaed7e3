import Foundation

/// AddressSanitizer, when the tests are built with it: `make sanitize`.
enum Sanitizer {
    /// The environment variables of the sanitizer, for the programs under test too.
    static let environment = ProcessInfo.processInfo.environment.filter {
        ["ASAN_OPTIONS", "LSAN_OPTIONS"].contains($0.key)
    }

    static var isPresent: Bool { !environment.isEmpty }
}
