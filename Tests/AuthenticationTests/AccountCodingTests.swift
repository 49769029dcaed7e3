import Bytes
import Testing

@testable import Authentication

/// Accounts as a store keeps them.
struct AccountCodingTests {
    private static let sample = Account.Sample(target: .max, content: Array("GET /".utf8) + [0, 255])

    /// An account with something in each of its fields.
    private static var full: Account {
        var account = Account()
        account.slots = [
            Account.Slot(
                time: 1_700_000_000_000, id: 3,
                refusals: [
                    .init(replica: .max, sent: 1 << 40, id: 3), .init(replica: 1, sent: 0, id: 4),
                ]),
            Account.Slot(time: 5, id: 9, refusals: []),
        ]
        var record = Account.Record("https://example.com:443")
        record.isKnown = true
        record.wasKnown = true
        record.takesTickets = true
        record.samples = [sample, Account.Sample(target: 0, content: [])]
        record.samples[1].wasRefused = true
        record.pause = Account.Pause(since: 1, nextTry: .distantFuture, step: 2, number: 3, replica: .max - 1, sent: 5)
        record.reason = "account löcked"
        record.leader = Account.Reservation.ID(replica: 7, sent: 8)
        record.indecisions = 2
        record.refusedTargets = [1, .max]
        record.unknownTry = 77
        record.doubt = account.slots[0]
        (record.lastAccepted, record.lastRefused) = (31, 32)
        record.clearances = 300
        record.mayAskOpenly = true
        record.retry = []
        record.mayProbe = false
        record.fixedSample = sample
        account.records = [Account.Record("proxy http://p:3128"), record]
        account.reservations = [true, false].map { isCleared in
            .init(id: .init(replica: 7, sent: 8), server: "http://é:80", number: 3, end: 9, isCleared: isCleared)
        }
        account.number = 12
        account.isProven = true
        account.unprovenRefusals = 3
        account.unprovenTry = 4
        account.unprovenPlace = Account.Place(server: "http://é:80", target: 6)
        account.firstPause = 0
        account.isRotated = true
        (account.since, account.lastSent, account.doubtedSince) = (21, 22, 23)
        return account
    }

    @Test func `each field of an account is kept`() {
        for account in [Account(), Self.full] {
            #expect(Account(encoded: account.encoded(within: .max)) == account)
        }
        // A new field must be added to the form, too, and here.
        let fields = { (value: Any) in Mirror(reflecting: value).children.compactMap(\.label).sorted() }
        #expect(
            fields(Account()) == [
                "doubtedSince", "firstPause", "isProven", "isRotated", "lastSent", "number", "records", "reservations",
                "since", "slots", "unprovenPlace", "unprovenRefusals", "unprovenTry",
            ])
        #expect(
            fields(Account.Record("")) == [
                "clearances", "doubt", "fixedSample", "indecisions", "isKnown", "lastAccepted", "lastRefused", "leader",
                "mayAskOpenly", "mayProbe", "pause", "reason", "refusedTargets", "retry", "samples", "server",
                "takesTickets", "unknownTry", "wasKnown",
            ])
        #expect(
            fields(Account.Pause(since: 0, nextTry: 0, step: 0, number: 0, replica: 0, sent: 0)) == [
                "nextTry", "number", "replica", "sent", "since", "step",
            ])
        #expect(fields(Account.Slot(time: 0, id: 0, refusals: [])) == ["id", "refusals", "time"])
        #expect(fields(Self.sample) == ["content", "target", "wasRefused"])
    }

    @Test(arguments: 0..<20) func `what the store keeps is what was there`(_ seed: Int) throws {
        var walk = Walk(seed: seed)
        try walk.run(requests: 50)
        let data = walk.replicas.account.encoded(within: .max)
        #expect(Account(encoded: data) == walk.replicas.account)
    }

    @Test func `bytes that are no account are none`() {
        let bytes = Self.full.encoded(within: .max)
        #expect(Account(encoded: []) == nil)
        #expect(Account(encoded: [2] + bytes.dropFirst()) == nil)
        for count in 0..<bytes.count { #expect(Account(encoded: Array(bytes.prefix(count))) == nil, "\(count)") }
        // With any changed byte, it is an account or no account.
        for index in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = value
                _ = Account(encoded: changed)
            }
        }
    }

    @Test func `what a later version appends is skipped`() {
        var account = Self.full
        account.records = []
        let bytes = account.encoded(within: .max)
        #expect(Account(encoded: bytes + [1, 2, 3]) == account)
        // The first frame, behind the format, grows by one byte.
        let head = Int(bytes[1])
        let longer = [bytes[0], bytes[1] + 1] + bytes[2..<2 + head] + [42] + bytes[(2 + head)...]
        #expect(Account(encoded: Array(longer)) == account)
    }

    @Test func `an account that is too large loses samples first, and then what is known least`() throws {
        var account = Account()
        account.records = (0..<200).map { number in
            var record = Account.Record("http://host\(number):80")
            record.isKnown = number % 2 == 0
            record.samples = (0..<4).map { sample in
                Account.Sample(target: UInt64(sample), content: Array(repeating: UInt8(sample), count: 500))
            }
            return record
        }
        let kept = { (limit: Int) throws -> Account in
            let bytes = account.encoded(within: limit)
            #expect(bytes.count <= limit)
            return try #require(Account(encoded: bytes))
        }
        #expect(try kept(1_000_000) == account)
        #expect(try kept(200_000).records.allSatisfy { $0.samples.map(\.target) == [0] })
        let small = try kept(12_000)
        #expect(small.records.count == 200 && small.records.allSatisfy(\.samples.isEmpty))
        #expect(try kept(6_000).records.map(\.isKnown) == Array(repeating: true, count: 100))
        #expect(try kept(1_000).records.last?.server == "http://host198:80")
        #expect(try kept(20).records.isEmpty)
    }
}
