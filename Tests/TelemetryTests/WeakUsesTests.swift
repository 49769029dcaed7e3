import Bytes
import Testing

@testable import Telemetry

/// The table of ways that should be given up.
struct WeakUsesTests {
    private func use(
        _ finding: String = "NTLM", _ host: String = "h", by client: String = "::1", _ application: String? = nil,
        at now: WallTime
    ) -> WeakUse {
        WeakUse(
            finding, of: .init("http", host: host, port: 80, as: .origin), by: client, application, with: "a",
            at: now)
    }

    @Test func `a way is one entry for each server, client and application, the last one first`() {
        let table = WeakUses()
        table.note(use(at: 1))
        table.note(use(by: "::2", at: 2))
        table.note(use(by: "::2", "curl", at: 3))
        table.note(use("TLS 1.0", at: 4))
        table.note(use("NTLM", "i", at: 5))
        table.note(use(at: 6))
        #expect(table.list.map(\.last) == [6, 5, 4, 3, 2])
        #expect(table.list.first?.first == 1)
    }

    @Test func `a client that calls itself otherwise each time displaces nothing of other servers`() {
        let table = WeakUses(limit: 40)
        table.note(use("NTLM", "other", at: 0))
        for number in 1...1000 { table.note(use(by: "::1", "\(number)", at: WallTime(milliseconds: number))) }
        #expect(table.list.count == 33)
        #expect(table.list.last?.server.host == "other")
        #expect(table.list.first?.last == 1000)
    }

    @Test func `beyond its limit the table forgets the entry that was seen longest ago`() {
        let table = WeakUses(limit: 3)
        for number in 1...3 { table.note(use("NTLM", "\(number)", at: WallTime(milliseconds: number))) }
        table.note(use("NTLM", "1", at: 4))
        table.note(use("NTLM", "5", at: 5))
        #expect(table.list.map(\.server.host) == ["5", "1", "3"])
    }

    @Test func `each way has its words`() {
        let ways: WeakMechanisms = [.ntlm, .md5, .passwordInClear, .tokenInClear, .tls10, .tls11]
        #expect(
            ways.words == ["NTLM", "Digest with MD5", "password in clear", "token in clear", "TLS 1.0", "TLS 1.1"])
        #expect(SecurityRecord(version: "1.0").dated == .tls10 && SecurityRecord(version: "1.1").dated == .tls11)
        #expect(SecurityRecord(version: "1.2").dated.isEmpty && SecurityRecord().dated.isEmpty)
    }
}
