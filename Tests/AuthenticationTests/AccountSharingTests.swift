import Bytes
import Crypto
import Testing

@testable import Authentication

/// Accounts that several processes share.
struct AccountSharingTests {
    @Test func `what the store still has of a value that was replaced here is left there`() {
        let (old, new) = (
            CredentialVersion(name: "ci", fingerprint: 1), CredentialVersion(name: "ci", fingerprint: 2)
        )
        let accounts = Accounts()
        func adopt(_ version: CredentialVersion, _ revision: Int64) -> [CredentialVersion] {
            accounts.adopt([Account.Shared(version, broughtBy: nil, Account(), revision: revision)], at: 0)
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
                [Account.Shared(credential.version, broughtBy: nil, account, revision: revision)],
                ofAnotherStore: isAnother, at: 0)
            return accounts.all.first?.account.number
        }
        #expect(adopt(5, 1, false) == 1)
        #expect(adopt(4, 2, false) == 1)
        #expect(adopt(6, 3, false) == 3)
        // The numbers of another store's changes say nothing about those of this one.
        #expect(adopt(1, 4, true) == 4)
    }

    /// A store that answers when the test has it answer.
    private final class SlowJournal: Accounts.Journal {
        let answer = Promise<Account.Shared.Change>()
        let isAttached = true

        func change(
            _ own: Account.Shared, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])?
        ) async -> Account.Shared.Change? { await answer.value() }

        func replaced(by version: CredentialVersion, isRenewal: Bool) {}
    }

    @Test func `what a process sends after a refusal waits for the store, and does not count as under way`() async {
        let (journal, first, second) = (SlowJournal(), "http://a:80", "http://b:80")
        let credential = Credential(name: "ci", user: "ann", password: Secret("p"))
        let accounts = Accounts(journal: journal)
        var account = Account()
        for server in [first, second] { _ = account.learn(of: server) }
        accounts.adopt([Account.Shared(credential.version, broughtBy: nil, account, revision: 1)], at: 0)
        let (evidence, other) = (
            accounts.evidence(of: credential, at: first), accounts.evidence(of: credential, at: second)
        )
        #expect(evidence.isGood && other.isGood)
        evidence.judge(evidence.send(), .refused, at: "/".utf8.span, now: 1)
        #expect(!evidence.isGood && !other.isGood)
        guard case .wait = other.admit("/".utf8.span, under: Evidence.RetryTerms(retry: [30_000]), now: 2) else {
            Issue.record("the version is sent before the store knows of the refusal")
            return
        }
        journal.answer.expire()
    }
}
