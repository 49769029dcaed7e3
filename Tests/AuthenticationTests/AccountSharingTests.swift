import Crypto
import Testing

@testable import Authentication

/// Accounts that several processes share.
struct AccountSharingTests {
    private static let server = "http://host:80"
    private static let other = "https://host:443"

    @Test func `what only this process knows completes the store's account`() {
        var (stored, own) = (Account(), Account())
        stored.number = 2
        _ = stored.learn(of: Self.server)
        _ = own.learn(of: Self.server)
        _ = own.learn(of: Self.other)
        own.records[0].samples = [Account.Sample(target: 1, content: [1])]
        let completed = stored.completed(by: own)
        #expect(completed.records.map(\.server) == [Self.server, Self.other])
        #expect(completed.records.allSatisfy(\.isKnown) && completed.records[0].samples.count == 1)
        #expect(completed.number == 2)
        #expect(stored.completed(by: Account()) == stored)
        #expect(completed.completed(by: own) == completed)
    }

    @Test func `a process that has counted more while the store was away goes on from that`() {
        var (stored, own) = (Account(), Account())
        _ = stored.learn(of: Self.other)
        (stored.number, own.number) = (1, 2)
        own.slots = [Account.Slot(time: 5, id: 2, refusals: [])]
        let completed = stored.completed(by: own)
        #expect(completed.slots == own.slots && completed.record(of: Self.other)?.isKnown == true)
        own.number = 1
        #expect(stored.completed(by: own) == stored)
    }

    @Test func `earlier refusals of a version that was accepted there pause it there`() throws {
        let refusals = [
            Account.EarlierRefusal(at: Self.server, since: 5, nextTry: 1_000_000, retries: 2),
            Account.EarlierRefusal(at: Self.server, since: 7, nextTry: nil, retries: 0),
            Account.EarlierRefusal(at: Self.other, since: 9, nextTry: nil, retries: 0),
        ]
        let account = Account(earlier: refusals, acceptedBy: [Self.server, "http://third:80"], at: 10_000)
        #expect(account.isProven && account.isTroubled && account.unprovenRefusals == 0)
        let pause = try #require(account.record(of: Self.server)?.pause)
        #expect(pause.nextTry == 1_000_000 && pause.step == 2 && pause.since == 5)
        #expect(account.record(of: Self.other)?.isKnown == false)
        #expect(account.record(of: Self.other)?.pause?.nextTry == 10_000 + 30 * 60_000)
        #expect(account.isGood(at: "http://third:80"))
        let due = Account(earlier: [refusals[1]], acceptedBy: [Self.server], at: 10_000)
        #expect(due.record(of: Self.server)?.pause?.nextTry == 40_000)
    }

    @Test func `earlier refusals of a version that was never accepted are its two`() {
        let refusal = Account.EarlierRefusal(at: Self.server, since: 5, nextTry: 6, retries: 0)
        let account = Account(earlier: [refusal], acceptedBy: [], at: 10_000)
        #expect(account.standing(now: 20_000).nextTry == .time(10_000 + 30 * 60_000))
        #expect(account.hold(at: Self.other, now: 20_000) != nil)
    }

    @Test func `what the store still has of a value that was replaced here is left there`() {
        let (old, new) = (
            CredentialVersion(name: "ci", fingerprint: 1), CredentialVersion(name: "ci", fingerprint: 2)
        )
        let accounts = Accounts()
        func adopt(_ version: CredentialVersion, _ revision: Int64) -> [CredentialVersion] {
            accounts.adopt([SharedAccount(version, broughtBy: nil, Account(), revision: revision)], at: 0)
            return accounts.all.map(\.version)
        }
        #expect(adopt(old, 1) == [old])
        accounts.replace(with: new)
        #expect(adopt(old, 2) == [])
        #expect(adopt(new, 3) == [new])
        accounts.replace(with: old)
        #expect(adopt(old, 4) == [old])
    }

    @Test func `a process never goes back to an older state of the store`() {
        let credential = Credential(name: "ci", user: "ann", password: Secret("p"))
        let accounts = Accounts()
        let adopt = { (revision: Int64, number: Int, isAnother: Bool) in
            var account = Account()
            account.number = number
            accounts.adopt(
                [SharedAccount(credential.version, broughtBy: nil, account, revision: revision)],
                ofAnotherStore: isAnother, at: 0)
            return accounts.all.first?.account.number
        }
        #expect(adopt(5, 1, false) == 1)
        #expect(adopt(4, 2, false) == 1)
        #expect(adopt(6, 3, false) == 3)
        // The numbers of another store's changes say nothing about those of this one.
        #expect(adopt(1, 4, true) == 4)
    }
}
