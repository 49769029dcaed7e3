import Foundation
import GSSAPI
import Testing

/// The owner of the Kerberos library against an MIT KDC. Each test runs in a process of its own, since the library takes
/// the realm from the environment.
struct KerberosLibraryTests {
    /// A realm for a process of its own.
    private struct Place: Codable, Sendable {
        let configuration: String
        let services: String
        let keytab: String
        let folder: String

        init(_ realm: KerberosRealm) {
            configuration = realm.configurationPath
            services = realm.serviceKeytab
            keytab = realm.keytab("alice")
            folder = realm.folder
        }

        func enter() {
            setenv("KRB5_CONFIG", configuration, 1)
            setenv("KRB5RCACHEDIR", folder, 1)
        }
    }

    /// Lets both sides talk until one of them has said its last.
    private static func talk(
        _ initiator: InitiatingContext, _ acceptor: AcceptingContext
    ) throws -> (principal: String?, isProved: Bool) {
        var principal: String?
        var step = try initiator.step()
        for _ in 0..<8 {
            guard case .continue(let token) = step else { break }
            switch try acceptor.step(token) {
            case .continue(let answer): step = try initiator.step(answer)
            case .established(let name, let answer):
                principal = name
                guard let answer else { return (principal, false) }
                step = try initiator.step(answer)
            }
        }
        if case .established = step { return (principal, true) }
        return (principal, false)
    }

    @Test func `a login goes through, and each side knows the other`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            #expect(cache.validity.contains(Int(Date().timeIntervalSince1970)))
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            #expect(ticket.name == "HTTP/localhost@ATTACHE.TEST")
            let acceptor = try AcceptorCredential(keytab: place.services)
            let talked = try Self.talk(
                try InitiatingContext(cache, to: ticket), try AcceptingContext(acceptor))
            #expect(talked.principal == "alice@ATTACHE.TEST")
            #expect(talked.isProved)
        }
    }
}
