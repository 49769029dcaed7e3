import Bytes
import Foundation
import Testing

@testable import Credentials
@testable import GSSAPI

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
    ) throws -> (principal: String?, isProved: Bool, lifetime: Milliseconds?) {
        var principal: String?
        var lifetime: Milliseconds?
        var step = try initiator.step()
        for _ in 0..<8 {
            guard case .continue(let token) = step else { break }
            switch try acceptor.step(token) {
            case .continue(let answer): step = try initiator.step(answer)
            case .established(let name, let answer, let time):
                (principal, lifetime) = (name, time)
                guard let answer else { return (principal, false, lifetime) }
                step = try initiator.step(answer)
            }
        }
        if case .established = step { return (principal, true, lifetime) }
        return (principal, false, lifetime)
    }

    private static func expect(
        _ fault: GSSAPIError.Fault, _ words: String, of body: () throws(GSSAPIError) -> Void
    ) {
        let error = #expect(throws: GSSAPIError.self) { try body() }
        #expect(error?.fault == fault, "\(String(describing: error))")
        #expect(error?.description.contains(words) == true, "\(String(describing: error)) lacks: \(words)")
    }

    @Test func `a login goes through, and each side knows the other`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            #expect(cache.validity.contains(WallTime(seconds: Int(Date().timeIntervalSince1970))))
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            #expect(ticket.name == "HTTP/localhost@ATTACHE.TEST")
            let acceptor = try AcceptingContext.Credential(keytab: place.services)
            let talked = try Self.talk(
                try InitiatingContext(cache, to: ticket), try AcceptingContext(acceptor))
            #expect(talked.principal == "alice@ATTACHE.TEST")
            #expect(talked.isProved)
            // Ten hours, and five minutes by which clocks may differ.
            #expect((Milliseconds.hours(9)...(.hours(10) + .minutes(10))).contains(talked.lifetime ?? 0))
        }
    }

    @Test(
        arguments: [
            (own: [1, 2, 3], theirs: [1, 2, 3], accepted: true), (own: [1, 2, 3], theirs: [1, 2, 4], accepted: false),
            (own: [1, 2, 3], theirs: nil, accepted: true), (own: nil, theirs: [1, 2, 3], accepted: true),
        ] as [(own: [UInt8]?, theirs: [UInt8]?, accepted: Bool)])
    func `a login that is bound to another channel is refused`(
        own: [UInt8]?, theirs: [UInt8]?, accepted: Bool
    ) async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) {
            [place = place as Place, own = own as [UInt8]?, theirs = theirs as [UInt8]?, accepted = accepted as Bool] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            let initiator = try InitiatingContext(cache, to: ticket, channel: own)
            let acceptor = try AcceptingContext(AcceptingContext.Credential(keytab: place.services), channel: theirs)
            if accepted {
                #expect(try Self.talk(initiator, acceptor).isProved)
            } else {
                let error = #expect(throws: GSSAPIError.self) { try Self.talk(initiator, acceptor) }
                #expect(error?.fault == .refused)
            }
        }
    }

    @Test func `a token is worth nothing a second time, nor is one of another mechanism`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            let acceptor = try AcceptingContext.Credential(keytab: place.services)
            guard case .continue(let token) = try InitiatingContext(cache, to: ticket).step() else {
                Issue.record("nothing to send")
                return
            }
            _ = try AcceptingContext(acceptor).step(token)
            let replayed = #expect(throws: GSSAPIError.self) { try AcceptingContext(acceptor).step(token) }
            #expect(replayed?.fault == .refused)
            let negotiate = Array("NTLMSSP\0".utf8) + [1, 0, 0, 0] + Array(repeating: 0, count: 28)
            for other in [negotiate, [], [0x60, 0x82, 0xFF, 0xFF]] {
                let defect = #expect(throws: GSSAPIError.self) { try AcceptingContext(acceptor).step(other) }
                #expect(defect?.fault == .defectiveToken, "\(String(describing: defect))")
            }
        }
    }

    @Test func `bytes behind the end of a login begin no other`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            let (initiator, acceptor) = (
                try InitiatingContext(cache, to: ticket),
                try AcceptingContext(AcceptingContext.Credential(keytab: place.services))
            )
            Self.expect(.defectiveToken, "makes sense") { () throws(GSSAPIError) in _ = try initiator.step([1, 2]) }
            #expect(try Self.talk(initiator, acceptor).isProved)
            for token: [UInt8]? in [nil, [], [1, 2, 3]] {
                Self.expect(.defectiveToken, "makes sense") { () throws(GSSAPIError) in _ = try initiator.step(token) }
            }
            let failed = try InitiatingContext(cache, to: ticket)
            _ = try failed.step()
            Self.expect(.defectiveToken, "makes sense") { () throws(GSSAPIError) in _ = try failed.step([]) }
            Self.expect(.refused, "error") { () throws(GSSAPIError) in _ = try failed.step([0x60, 0x82, 0xFF, 0xFF]) }
            Self.expect(.defectiveToken, "makes sense") { () throws(GSSAPIError) in _ = try failed.step([0x60]) }
        }
    }

    @Test func `a keytab that is half written is no keytab, and its file is looked at once`() async throws {
        let realm = try KerberosRealm.shared()
        let place = Place(realm)
        let copy = Scratch.folder("keys") + "/http.keytab"
        try Data(Scratch.bytes(realm.serviceKeytab)).write(to: URL(fileURLWithPath: copy))
        await #expect(processExitsWith: .success) { [place = place as Place, copy = copy as String] in
            place.enter()
            let acceptor = try AcceptingContext.Credential(keytab: copy)
            let whole = try Data(contentsOf: URL(fileURLWithPath: copy))
            for length in [0, 1, 2, 20] {
                try whole.prefix(length).write(to: URL(fileURLWithPath: copy))
                Self.expect(.unavailable, copy) { () throws(GSSAPIError) in
                    _ = try AcceptingContext.Credential(keytab: copy)
                }
            }
            unlink(copy)
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            #expect(
                try Self.talk(try InitiatingContext(cache, to: ticket), try AcceptingContext(acceptor)).isProved)
        }
    }

    @Test func `a ticket for another service of the keytab is refused`() async throws {
        let realm = try KerberosRealm.shared()
        let folder = Scratch.folder("keys")
        let (both, other) = (folder + "/both.keytab", folder + "/other.keytab")
        try Data(Scratch.bytes(realm.serviceKeytab)).write(to: URL(fileURLWithPath: both))
        try realm.administer("addprinc -randkey host/localhost")
        for keytab in [both, other] { try realm.administer("ktadd -norandkey -k \(keytab) host/localhost") }
        let place = Place(realm)
        await #expect(processExitsWith: .success) {
            [place = place as Place, both = both as String, other = other as String] in
            place.enter()
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let foreign = try cache.ticket(for: try #require(ServiceName("host/localhost")))
            let own = try cache.ticket(for: ServiceName(host: "localhost"))
            let acceptor = try AcceptingContext.Credential(keytab: both)
            let error = #expect(throws: GSSAPIError.self) {
                try Self.talk(try InitiatingContext(cache, to: foreign), try AcceptingContext(acceptor))
            }
            #expect(error?.fault == .refused, "\(String(describing: error))")
            #expect(try Self.talk(try InitiatingContext(cache, to: own), try AcceptingContext(acceptor)).isProved)
            let host = try AcceptingContext.Credential(keytab: both, service: "host")
            #expect(try Self.talk(try InitiatingContext(cache, to: foreign), try AcceptingContext(host)).isProved)
            Self.expect(.unavailable, "no key of a service HTTP/") { () throws(GSSAPIError) in
                _ = try AcceptingContext.Credential(keytab: other)
            }
        }
    }

    @Test func `without a place to remember tokens in it is nobody's ticket that is refused`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            setenv("KRB5RCACHEDIR", "/nonexistent", 1)
            let cache = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            let error = #expect(throws: GSSAPIError.self) {
                try Self.talk(
                    try InitiatingContext(cache, to: ticket),
                    try AcceptingContext(AcceptingContext.Credential(keytab: place.services)))
            }
            #expect(error?.fault == .unavailable, "\(String(describing: error))")
        }
    }

    @Test func `tickets go with the last who needs them`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            var cache: TicketCache? = try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            let name = try #require(cache?.name)
            var login: InitiatingContext?
            if let cache {
                login = try InitiatingContext(cache, to: try cache.ticket(for: ServiceName(host: "localhost")))
            }
            cache = nil
            _ = try login?.step()
            login = nil
            Self.expect(.unavailable, "redential") { () throws(GSSAPIError) in
                let credential = try SecurityTokens().credential("ccache", name, usage: 1)
                _ = credential
            }
        }
    }

    @Test func `tickets of services outlive the first ticket that they were got with`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let service = ServiceName(host: "localhost")
            let (old, new) = (
                try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab),
                try TicketCache.acquire("alice@ATTACHE.TEST", keytab: place.keytab)
            )
            let now = WallTime(seconds: Int(Date().timeIntervalSince1970))
            var held = KerberosTickets.Cache()
            held.replace(with: old, [service: try old.ticket(for: service)], at: now)
            #expect(held.supply(for: service, at: now)?.cache === old)
            // The KDC went away before it gave the service's.
            held.replace(with: new, [:], at: now)
            let kept = try #require(held.supply(for: service, at: now))
            #expect(kept.cache === old)
            #expect(held.usableCache(at: now) === new)
            _ = try InitiatingContext(kept.cache, to: kept.ticket).step()
            held.replace(with: new, [service: try new.ticket(for: service)], at: now)
            #expect(held.supply(for: service, at: now)?.cache === new)
            #expect(held.renounce(service, at: now + .seconds(10))?.cache === new)
            #expect(held.supply(for: service, at: now)?.ticket == nil)
        }
    }

    @Test func `a name with a zero byte is no other principal's`() async throws {
        let place = Place(try KerberosRealm.shared())
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            Self.expect(.unavailable, "not a principal") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("alice\0@ATTACHE.TEST", keytab: place.keytab)
            }
        }
    }

    @Test func `faults say what is wrong, and a refusal is told from a KDC that is away`() async throws {
        let realm = try KerberosRealm()
        let place = Place(realm)
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            let wrong = Array("Not-The-Qu33n/8".utf8)
            Self.expect(.refused, "the KDC refused the password of alice@ATTACHE.TEST") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("alice", password: wrong.span)
            }
            Self.expect(.refused, "the KDC knows no principal nobody@ATTACHE.TEST") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("nobody", password: wrong.span)
            }
            Self.expect(.unavailable, "the Kerberos configuration has no KDC of NO.WHERE") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("a@NO.WHERE", password: wrong.span)
            }
            Self.expect(.unavailable, "no key") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("bob", keytab: place.keytab)
            }
            Self.expect(.unavailable, "/nonexistent") { () throws(GSSAPIError) in
                _ = try TicketCache.copy("alice", cache: "FILE:/nonexistent", shownAs: "/nonexistent")
            }
            Self.expect(.unavailable, "/nonexistent") { () throws(GSSAPIError) in
                _ = try AcceptingContext.Credential(keytab: "/nonexistent")
            }
            let cache = try TicketCache.acquire("alice", keytab: place.keytab)
            Self.expect(.unavailable, "the KDC knows no service HTTP/127.0.0.1") { () throws(GSSAPIError) in
                _ = try cache.ticket(for: ServiceName(host: "127.0.0.1"))
            }
        }
        realm.stopKDC()
        await #expect(processExitsWith: .success) { [place = place as Place] in
            place.enter()
            Self.expect(.unavailable, "no KDC of ATTACHE.TEST can be reached") { () throws(GSSAPIError) in
                _ = try TicketCache.acquire("alice", keytab: place.keytab)
            }
        }
    }

    @Test func `a cache of somebody else is taken over, and left as it was`() async throws {
        let realm = try KerberosRealm.shared()
        let place = Place(realm)
        let file = try realm.cache("alice")
        let before = Scratch.bytes(file)
        await #expect(processExitsWith: .success) { [place = place as Place, file = file as String] in
            place.enter()
            let cache = try TicketCache.copy("alice@ATTACHE.TEST", cache: "FILE:\(file)", shownAs: file)
            let ticket = try cache.ticket(for: ServiceName(host: "localhost"))
            #expect(ticket.validity.upperBound - ticket.validity.lowerBound <= .hours(1))
            #expect(throws: GSSAPIError.self) {
                try TicketCache.copy("bob@ATTACHE.TEST", cache: "FILE:\(file)", shownAs: file)
            }
        }
        #expect(Scratch.bytes(file) == before)
    }

    @Test(arguments: [
        ("HTTP/www.example.test", "HTTP/www.example.test"), ("HTTP@www.example.test", "HTTP/www.example.test"),
        ("host/a@REALM", "host/a@REALM"), ("HTTP/", nil), ("/a", nil), ("a", nil), ("HTTP/a@", nil),
    ])
    func `a service is named as rules and GSSAPI write it`(text: String, name: String?) {
        #expect(ServiceName(text).map { "\($0)" } == name)
    }
}
