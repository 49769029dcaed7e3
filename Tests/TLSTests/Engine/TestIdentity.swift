import Crypto
import TestSupport
import Testing

@testable import TLS

/// Identities that sign themselves; who judges them is the test.
enum TestIdentity {
    static func server() throws -> Identity { try identity(TestPEM.server) }
    static func other() throws -> Identity { try identity(TestPEM.other) }
    static func client() throws -> Identity { try identity(TestPEM.client) }

    private static func identity(_ pem: String) throws -> Identity {
        try Identity(certificate: .content(Secret(pem)))
    }
}
