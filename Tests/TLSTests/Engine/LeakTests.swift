import Bytes
import Foundation
import Model
import Testing

@testable import TLS

/// The memory that remains when connections end. Small leaks show under AddressSanitizer only: `swift test
/// --sanitize=address`.
@Suite struct LeakTests {
    /// How a connection ends.
    private enum End: CaseIterable {
        case farewell, silence, midway, refusedServer, refusedClient, noIdentity, undecided, resumed
    }

    @Test func `A thousand connections, however they end, leave nothing behind`() throws {
        let contexts = try [
            plainServer(),
            ServerTLSContext(ServerTLSContext.Settings(clientCertificates: .requested(issuers: []) { _ in false })),
        ]
        let cache = SessionCache<TLSVersion>(capacity: 4)
        var before = 0
        for round in 0..<1000 {
            if round == 200 { before = try Self.residentMegabytes() }
            let end = End.allCases[round % End.allCases.count]
            let version = round / End.allCases.count % 2 == 0 ? TLSVersion.v12 : .v13
            weak var client: TLSConnection?
            weak var port: RecordPort?
            try {
                let talk = try Conversation(
                    client: ClientTLSContext.Settings(maximum: version),
                    server: contexts[end == .refusedClient ? 1 : 0],
                    sessions: end == .resumed ? cache.slot(for: version) : nil
                ) { _ in try? TestIdentity.client() }
                client = talk.client
                port = talk.server.port
                try? Self.live(talk, until: end)
            }()
            #expect(client == nil && port == nil, "\(end)")
        }
        #expect(try Self.residentMegabytes() - before < 24)
    }

    private static func live(_ talk: Conversation, until end: End) throws {
        switch end {
        case .refusedServer: talk.judges = { _ in nil }
        case .noIdentity: talk.identity = nil
        case .midway:
            _ = try talk.step(talk.client)
            _ = try talk.step(talk.server)
            return
        case .undecided:
            while true {
                if case .serverTrust = try talk.client.handshake() { return }
                _ = try talk.step(talk.server)
            }
        default: break
        }
        try talk.shake()
        _ = try Conversation.pass("hello", from: talk.client, to: talk.server)
        _ = try Conversation.pass("welcome", from: talk.server, to: talk.client)
        if end == .farewell || end == .resumed {
            talk.client.shutdownWrite()
            _ = Conversation.read(talk.server)
        }
    }

    private static func residentMegabytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(pages[1])) * 4096 >> 20
    }
}
