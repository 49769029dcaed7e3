import Authentication
import Bytes
import Foundation
import Model
import Telemetry
import Testing

@testable import Credentials

/// The events of the log against the table that `attache help json` shows.
struct EventFieldTests {
    private static func names(_ event: AuditEvent) throws -> Set<String> {
        let buffer = ByteBuffer(capacity: 256)
        event.append(to: buffer, at: 1_767_225_600_000, as: .json)
        let object = try JSONSerialization.jsonObject(with: Data(buffer.readable.text.utf8))
        return Set(try #require(object as? [String: Any]).keys)
    }

    @Test func `events have the fields of the manual, and no others`() throws {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 80, protocol: .http, isProxy: true), realm: "r",
            authenticationMethod: .basic)
        var event = AuditEvent(
            .credentialParked, by: .client(address: "127.0.0.1", user: "u"), space, credential: "c", details: "d")
        event.persistence = .permanent
        (event.isDefault, event.since, event.nextTry, event.count) = (true, 1, 2, 3)
        event.elsewhere = .init(replica: "m", time: 4)
        var login = AuditEvent(.loginRefused, by: .client(address: "127.0.0.1", user: "u"))
        login.method = "basic"
        let events = [
            event, login, AuditEvent(.rulesReloaded, by: .signal(user: 0)), AuditEvent(.proxyStarted, by: .proxy),
        ]
        let found = try events.reduce(into: Set<String>()) { try $0.formUnion(Self.names($1)) }
        #expect(found == Set(EventField.allCases.map(\.rawValue)))
        #expect(try Self.names(AuditEvent(.logReopened, by: .proxy)).contains("version"))
        #expect(try !Self.names(event).contains("version"))
    }
}
