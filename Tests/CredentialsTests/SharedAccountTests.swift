import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import TestSupport
import Testing

@testable import Authentication
@testable import Credentials

/// The counts of processes that share a store.
@Suite(.serialized) struct SharedAccountTests {
    /// Replicas follow by the system's clock.
    private let now = SystemClock.wallTime
    private let credential = SendingProcess.credential()
    private var version: CredentialVersion { credential.version }

    /// Refuses each answer that goes out, until every request is decided.
    ///
    /// - Returns: how many were sent.
    private func refuseAll(_ requests: [AskedRequest], of processes: [SendingProcess], now: WallTime) async throws
        -> Int
    {
        var sent: [ObjectIdentifier: Evidence.Attempt] = [:]
        let isOver = try await Wait.asTask {
            let fresh = requests.compactMap(\.attempt).filter { sent[ObjectIdentifier($0)] == nil }
            #expect(fresh.count <= 1, "a second leader beside the first")
            for attempt in fresh {
                sent[ObjectIdentifier(attempt)] = attempt
                attempt.settle(.refused, now: now)
            }
            for process in processes { try process.store.follow(within: 0) }
            return requests.allSatisfy(\.isDecided)
        }
        #expect(isOver)
        return sent.count
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `of all requests of all processes two send a wrong password`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let processes = try (0..<3).map { _ in try place.open() }
        let requests = (0..<30).map { processes[$0 % 3].ask(for: "/\($0)", now: now) }
        #expect(try await refuseAll(requests, of: processes, now: now) == 2)
        for process in processes { #expect(try await process.follows { $0.unprovenRefusals == 2 }) }
        let later = processes.map { $0.ask(for: "/later", now: now + 29 * 60_000) }
        #expect(await Wait.asTask { later.allSatisfy(\.isDecided) })
        #expect(later.allSatisfy { $0.hold == .unproven })
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a verdict of one process is that of those who wait in another`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let (ours, theirs) = (try place.open(), try place.open())
        let leader = ours.ask(now: now)
        #expect(await Wait.asTask { leader.isDecided })
        let waiting = (0..<5).map { theirs.ask(for: "/\($0)", now: now + 1) }
        #expect(try await theirs.follows { !$0.reservations.isEmpty })
        #expect(waiting.allSatisfy { !$0.isDecided })
        try #require(leader.attempt).settle(.accepted, now: now + 2)
        let areSent = try await Wait.asTask {
            try theirs.store.follow(within: 20)
            return waiting.allSatisfy { $0.attempt != nil }
        }
        #expect(areSent)
        #expect(theirs.account()?.isGood(at: SendingProcess.server) == true)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `refusals under way at the same time are one, and those behind them are counted together`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let (ours, theirs) = (try place.open(), try place.open())
        try await ours.isAccepted(sample: nil, now: now)
        #expect(try await theirs.follows { $0.isGood(at: SendingProcess.server) })
        ours.isRefusedUnderWay(now: now + 1000)
        theirs.isRefusedUnderWay(now: now + 1001)
        #expect(try await Wait.asTask { try ours.row()?.slots.first?.refusals.count == 2 })
        #expect(try #require(try ours.row()).slots.count == 1)
        // The leader is one of either, and is refused.
        for process in [ours, theirs] {
            #expect(try await process.follows { $0.slots.first?.refusals.count == 2 })
        }
        #expect(
            try await refuseAll(
                [ours.ask(now: now + 2000), theirs.ask(now: now + 2000)], of: [ours, theirs], now: now + 2000) == 1)
        for process in [ours, theirs] {
            #expect(process.account()?.slots.count == 2)
            #expect(process.account()?.record(of: SendingProcess.server)?.pause?.nextTry == now + 32_000)
        }
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a process that dies loses its turn after half a minute`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let (dead, living) = (try place.open(), try place.open())
        let leader = dead.ask(now: now)
        #expect(await Wait.asTask { leader.attempt != nil })
        let early = living.ask(now: now + 29_999)
        #expect(try await living.follows { !$0.reservations.isEmpty })
        #expect(!early.isDecided)
        let late = living.ask(now: now + 30_000)
        #expect(await Wait.asTask { late.attempt != nil || early.attempt != nil })
        withExtendedLifetime(leader) {}
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `requests for a version that is not sent write nothing`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let process = try place.open()
        #expect(try await refuseAll((0..<3).map { process.ask(for: "/\($0)", now: now) }, of: [process], now: now) == 2)
        let revision = { () throws -> Int64 in
            try process.store.database.read { connection throws(DatabaseError) in
                try CredentialTables.revision(connection).latest
            }
        }
        let before = try revision()
        let asked = (0..<20).map { process.ask(for: "/\($0)", now: now + 1000) }
        #expect(await Wait.asTask { asked.allSatisfy { $0.hold == .unproven } })
        #expect(try revision() == before)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a command gives a version another chance in all processes`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let process = try place.open()
        #expect(try await refuseAll((0..<3).map { process.ask(for: "/\($0)", now: now) }, of: [process], now: now) == 2)
        let command = try place.open().store
        #expect(try command.reset { _, _ in false } == [])
        #expect(try command.reset { version, account in version.name == "ci" && account.isTroubled } == [version])
        #expect(try command.reset { _, _ in true } == [])
        #expect(try await process.follows { !$0.isTroubled })
        let asked = process.ask(now: now + 1000)
        #expect(await Wait.asTask { asked.attempt != nil })
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a later process knows what was judged, and a row that cannot be read counts as none`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let process = try place.open()
        #expect(try await refuseAll((0..<3).map { process.ask(for: "/\($0)", now: now) }, of: [process], now: now) == 2)
        #expect(try place.open().account() == process.account())
        var requests: [AskedRequest] = []
        for bytes in [[], [1], Array(repeating: 7, count: 200)] as [[UInt8]] {
            try process.store.database.write { connection, revision throws(DatabaseError) in
                _ = try connection.rows(
                    "UPDATE attache_accounts SET sealed = $1, revision = $2", [.bytes(bytes), .integer(revision)])
            }
            let later = try place.open()
            #expect(later.account() == nil)
            let asked = later.ask(now: now)
            requests.append(asked)
            #expect(await Wait.asTask { asked.attempt != nil })
            #expect(try later.row()?.reservations.count == 1)
        }
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a row of one version is none of another`(kind: SharedPlace.Kind) async throws {
        let process = try kind.make().open()
        try await process.isAccepted(now: now)
        #expect(try await Wait.asTask { try process.row() != nil })
        try process.store.database.write { connection, _ throws(DatabaseError) in
            _ = try connection.rows("UPDATE attache_accounts SET name = 'other'")
        }
        #expect(try process.row(of: CredentialVersion(name: "other", fingerprint: version.fingerprint)) == nil)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `requests that may hold secrets are not in clear in the store`(kind: SharedPlace.Kind) async throws {
        let place = try kind.make()
        let process = try place.open()
        try await process.isAccepted(sample: "GET /reset?key=hunter2 HTTP/1.1", now: now)
        #expect(try await Wait.asTask { try process.row()?.records.first?.samples.isEmpty == false })
        let rows = try process.store.database.read { connection throws(DatabaseError) in
            try connection.rows("SELECT * FROM attache_accounts")
        }
        for value in rows.joined() {
            let bytes = value.bytes ?? Array((value.text ?? "\(value.integer ?? 0)").utf8)
            #expect(Data(bytes).range(of: Data("hunter2".utf8)) == nil)
            #expect(Data(bytes).range(of: Data("host".utf8)) == nil)
        }
        if case .sqlite(let path) = place {
            for name in [path, path + "-wal"] {
                #expect(try Data(contentsOf: URL(filePath: name)).range(of: Data("hunter2".utf8)) == nil)
            }
        }
    }

    // MARK: - Without the store

    @Test func `a process whose store is away counts alone, and the store has it when it is back`() async throws {
        let path = try StoreFile.temporary()
        let process = try SharedPlace.sqlite(path: path).open()
        rename(path, path + ".away")
        let first = process.ask(for: "/1", now: now)
        #expect(await Wait.asTask { first.attempt != nil })
        try #require(first.attempt).settle(.refused, now: now)
        #expect(await Wait.asTask { process.account()?.unprovenRefusals == 1 })
        rename(path + ".away", path)
        let second = process.ask(for: "/2", now: now + 1000)
        #expect(await Wait.asTask { second.attempt != nil })
        try #require(second.attempt).settle(.refused, now: now + 1000)
        #expect(try await Wait.asTask { try process.row()?.unprovenRefusals == 2 })
        let third = process.ask(for: "/3", now: now + 2000)
        #expect(await Wait.asTask { third.hold == .unproven })
    }

    @Test func `a value that is written late takes nothing from the account of a later value`() async throws {
        let path = try StoreFile.temporary()
        let place = SharedPlace.sqlite(path: path)
        let (ours, theirs) = (try place.open(), try place.open())
        let (next, last) = (SendingProcess.credential("next"), SendingProcess.credential("last"))
        try await ours.isAccepted(now: now)
        rename(path, path + ".away")
        ours.store.accounts.replace(with: next.version)
        #expect(await Wait.asTask { ours.store.writer.isHeldUp })
        rename(path + ".away", path)
        let asked = theirs.ask(last, now: now + 1000)
        #expect(await Wait.asTask { asked.attempt != nil })
        try #require(asked.attempt).settle(.refused, now: now + 1000)
        #expect(try await Wait.asTask { try theirs.row(of: last.version)?.isTroubled == true })
        let refused = try theirs.row(of: last.version)
        ours.store.accounts.replace(with: last.version)
        #expect(await Wait.asTask { ours.store.writer.isSettled })
        #expect(try ours.row(of: last.version) == refused)
        #expect(try ours.row() == nil)
    }

    @Test func `a server that hangs is not waited for, and is asked again when it answers`() async throws {
        let calls = StoreCalls(limit: .milliseconds(50))
        let gate = DispatchSemaphore(value: 0)
        let first = await calls.run { isWanted in
            gate.wait()
            return isWanted()
        }
        #expect(first == nil, "it is not waited for")
        let isLeftOut = await calls.run { _ in true }
        #expect(isLeftOut == nil, "there is one at work already")
        gate.signal()
        #expect(await Wait.until { await calls.run { isWanted in isWanted() } == true })
    }

    @Test func `a store that refuses accounts is reported once`() async throws {
        let said = Said()
        let store = try CredentialStore(
            sqlite: StoreFile.temporary(), key: StoreFile.key(1), fingerprintKey: { _ in }, report: { said.add($0) })
        try store.database.write { connection, _ throws(DatabaseError) in
            _ = try connection.rows("DROP TABLE attache_accounts")
        }
        let process = SendingProcess(store: store)
        for target in ["/1", "/2"] {
            let asked = process.ask(for: target, now: now)
            #expect(await Wait.asTask { asked.attempt != nil })
            try #require(asked.attempt).settle(.refused, now: now)
        }
        #expect(await Wait.asTask { process.account()?.unprovenRefusals == 2 })
        #expect(said.all.count == 1, "\(said.all)")
        #expect(said.all.first?.hasPrefix("cannot count refused logins in the credential store") == true)
    }

    // MARK: - Other values

    @Test(arguments: SharedPlace.Kind.allCases)
    func `the value before helps the new one, once, in whichever process it comes first`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let process = try place.open()
        try await process.isAccepted(now: now)
        #expect(try await Wait.asTask { try process.row()?.records.first?.samples.count == 1 })
        let next = SendingProcess.credential("new")
        // It was started with the new value, and has not known the one before.
        let later = SendingProcess(store: try place.open().store)
        let asked = later.ask(next, now: now + 1000)
        #expect(await Wait.asTask { asked.attempt != nil })
        let rotated = try #require(try later.row(of: next.version))
        #expect(rotated.isRotated && !rotated.isProven && rotated.records.first?.samples.count == 1)
        #expect(try later.row() != nil, "the other process may still have it")
        process.store.accounts.replace(with: next.version)
        #expect(try await Wait.asTask { try later.row() == nil })
        #expect(try later.row(of: next.version) == rotated)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a value that takes another's place leaves nothing of it, also when an answer comes late`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let (ours, theirs) = (try place.open(), try place.open())
        try await ours.isAccepted(now: now)
        #expect(try await theirs.follows { $0.isGood(at: SendingProcess.server) })
        let next = SendingProcess.credential("new").version
        ours.store.accounts.replace(with: next)
        #expect(try await Wait.asTask { try ours.row() == nil })
        #expect(try ours.row(of: next)?.isRotated == true)
        // They have not heard of it, and are refused with the old one.
        theirs.isRefusedUnderWay(now: now + 1000)
        #expect(await Wait.asTask { theirs.account()?.slots.count == 1 })
        #expect(try theirs.row() == nil)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a token that was fetched again is taken to be accepted where the one before was`(
        kind: SharedPlace.Kind
    ) async throws {
        let process = try kind.make().open()
        try await process.isAccepted(now: now)
        #expect(try await Wait.asTask { try process.row() != nil })
        let next = SendingProcess.credential("next").version
        process.store.accounts.renew(with: next)
        #expect(try await Wait.asTask { try process.row() == nil })
        let row = try #require(try process.row(of: next))
        #expect(row.isGood(at: SendingProcess.server) && row.records.first?.samples.count == 1)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a grant keeps its account beside those of its tokens, until the grant is another one`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let process = try place.open()
        let name = SendingProcess.credential("one").version.name
        let grant = { (secret: String) in
            Credential(
                name: name,
                grant: TokenGrant(
                    server: .endpoint(try #require(HTTPEndpoint("https://id/token"))), clientID: "c",
                    proof: .secret(Secret(secret), inBody: false)))
        }
        let first = try grant("s")
        try await process.isAccepted(first, now: now)
        #expect(try await Wait.asTask { try process.row(of: first.version) != nil })
        for token in ["one", "two"] {
            let token = SendingProcess.credential(token)
            process.store.accounts.renew(with: token.version)
            try await process.isAccepted(token, now: now)
            #expect(try await Wait.asTask { try process.row(of: token.version) != nil })
            #expect(try process.row(of: first.version)?.isProven == true)
            #expect(process.store.accounts.hasAccepted(first.version, at: SendingProcess.server))
        }
        #expect(try process.row(of: SendingProcess.credential("one").version) == nil)
        let other = try place.open()
        let grants = try await Wait.asTask {
            try other.store.follow(within: 20)
            return other.store.accounts.all.filter(\.version.isGrant).map(\.version) == [first.version]
        }
        #expect(grants)
        let second = try grant("t")
        process.store.accounts.replace(with: second.version)
        #expect(try await Wait.asTask { try process.row(of: first.version) == nil })
        #expect(try process.row(of: second.version)?.isRotated == true)
        #expect(try process.row(of: SendingProcess.credential("two").version) == nil)
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a credential that is set in the store keeps nothing of the value before, and one removed nothing at all`(
        kind: SharedPlace.Kind
    ) async throws {
        let place = try kind.make()
        let command = try place.open().store
        let space = ProtectionSpace(
            origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)
        let set = { (password: String) throws -> Credential in
            let credential = Credential(name: "any", user: "ann", password: Secret(password), persistence: .permanent)
            try command.put(credential, for: space, asDefault: true)
            return try #require(command.credential(of: "ann", for: space))
        }
        let former = try set("old")
        let process = try place.open()
        try await process.isAccepted(former, now: now)
        #expect(try await Wait.asTask { try process.row(of: former.version) != nil })
        let present = try set("new")
        #expect(try process.row(of: former.version) == nil)
        #expect(try process.row(of: present.version)?.isRotated == true)
        try command.remove(user: "ann", for: space)
        #expect(try process.row(of: present.version) == nil)
    }

    // MARK: - Bounds

    @Test(arguments: SharedPlace.Kind.allCases)
    func `credentials that a client brings along push out none but its own`(kind: SharedPlace.Kind) async throws {
        let store = try kind.make().open().store
        let key = try store.dataKey()
        try store.database.write { connection, _ throws(DatabaseError) in
            func put(_ name: String, broughtBy owner: String?, at revision: Int64) throws(DatabaseError) {
                let version = CredentialVersion(name: name, fingerprint: 1)
                guard let row = AccountTables.Row(Account(), of: version, broughtBy: owner, sealedWith: key) else {
                    return
                }
                try AccountTables.put(row, on: 100, at: revision, connection)
            }
            for number in 0..<3 { try put("own \(number)", broughtBy: nil, at: 10) }
            try put("mine", broughtBy: "10.0.0.1 me", at: 10)
            for number in 0..<40 { try put("theirs \(number)", broughtBy: "10.0.0.2 \0", at: 20 + Int64(number)) }
        }
        let names = try store.database.read { connection throws(DatabaseError) in
            try AccountTables.rows(since: 0, on: 100, connection)
        }.map(\.version.name)
        #expect(names.count == 4 + AccountTables.ownerCapacity)
        #expect(names.prefix(5).sorted() == ["mine", "own 0", "own 1", "own 2", "theirs 8"])
        #expect(store.accounts.all.isEmpty)
    }

    @Test func `the accounts that were changed longest ago go first, and after a month`() async throws {
        let store = try StoreFile.open(StoreFile.temporary())
        let key = try store.dataKey()
        let names = { (day: Int64) throws -> [String] in
            try store.database.read { connection throws(DatabaseError) in
                try AccountTables.rows(since: 0, on: day, connection)
            }.map(\.version.name)
        }
        func put(_ numbers: Range<Int>, on day: Int64) throws {
            try store.database.write { connection, _ throws(DatabaseError) in
                for number in numbers {
                    let version = CredentialVersion(name: "\(number)", fingerprint: 1)
                    guard let row = AccountTables.Row(Account(), of: version, broughtBy: nil, sealedWith: key) else {
                        continue
                    }
                    try AccountTables.put(row, on: day, at: Int64(number + 1), connection)
                }
            }
        }
        try put(0..<AccountTables.capacity + 2, on: 100)
        #expect(try names(130).count == AccountTables.capacity)
        #expect(try names(130).first == "2")
        #expect(try names(131) == [])
        try put(9000..<9001, on: 131)
        let count = try store.database.read { connection throws(DatabaseError) in
            try connection.rows("SELECT COUNT(*) FROM attache_accounts")
        }
        #expect(count == [[.integer(1)]])
    }

    @Test(arguments: SharedPlace.Kind.allCases)
    func `a name that has no room in a row is counted by each process alone`(kind: SharedPlace.Kind) async throws {
        let process = try kind.make().open()
        for name in [String(repeating: "n", count: 1025), "a\0b"] {
            let asked = process.ask(SendingProcess.credential(name: name), now: now)
            #expect(await Wait.asTask { asked.attempt != nil })
        }
        let count = try process.store.database.read { connection throws(DatabaseError) in
            try connection.rows("SELECT COUNT(*) FROM attache_accounts")
        }
        #expect(count == [[.integer(0)]])
    }
}
