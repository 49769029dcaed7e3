import Authentication
import Bytes
import Crypto
import Database
import Model
import Synchronization
import TestSupport
import Testing

@testable import Credentials

/// The place of a store that several processes open.
enum SharedPlace: CustomStringConvertible {
    case sqlite(path: String)
    case postgresql(info: String)

    enum Kind: CaseIterable {
        case sqlite, postgresql

        func make() throws -> SharedPlace {
            switch self {
            case .sqlite: .sqlite(path: try StoreFile.temporary())
            case .postgresql: .postgresql(info: try PostgreSQLServer.shared.newDatabase())
            }
        }
    }

    func open() throws -> SendingProcess {
        switch self {
        case .sqlite(let path): SendingProcess(store: try StoreFile.open(path))
        case .postgresql(let info): SendingProcess(store: try PostgreSQLServer.shared.open(info))
        }
    }

    var description: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgresql: "PostgreSQL"
        }
    }
}

/// A process that sends credentials, and has a store open.
struct SendingProcess {
    let store: CredentialStore

    static let server = "http://host:80"
    static let terms = Evidence.RetryTerms(retry: Account.shortSteps)

    static func credential(_ password: String = "p", name: String = "ci") -> Credential {
        Credential(name: name, user: "ann", password: Secret(password))
    }

    /// A request would send the credential.
    func ask(
        _ credential: Credential = credential(), at server: String = server, for target: String = "/",
        broughtBy owner: String? = nil, now: WallTime
    ) -> AskedRequest {
        let evidence = store.accounts.evidence(of: credential, at: server, broughtBy: owner)
        return AskedRequest(evidence.admit(target.utf8Span.span, under: Self.terms, now: now))
    }

    /// The first request that sends the credential is accepted.
    func isAccepted(
        _ credential: Credential = credential(), at server: String = server, sample: String? = "GET /", now: WallTime
    ) async throws {
        let asked = ask(credential, at: server, now: now)
        #expect(await Wait.asTask { asked.isDecided })
        try #require(asked.attempt).settle(
            .accepted, sample: sample.map { Account.Sample(target: 1, content: Array($0.utf8)) }, now: now)
        // The store has the change before the process does.
        #expect(
            try await Wait.asTask {
                try row(of: credential.version)?.isProven == true && account(of: credential.version)?.isProven == true
            })
    }

    /// An answer that was sent while the credential was good is refused.
    func isRefusedUnderWay(_ credential: Credential = credential(), at server: String = server, now: WallTime) {
        let evidence = store.accounts.evidence(of: credential, at: server)
        evidence.judge(evidence.send(), .refused, at: "/".utf8Span.span, now: now)
    }

    /// The account in this process.
    func account(of version: CredentialVersion = credential().version) -> Account? {
        store.accounts.all.first { $0.version == version }?.account
    }

    /// The account in the store.
    func row(of version: CredentialVersion = credential().version) throws -> Account? {
        let dataKey = try store.dataKey()
        return try store.database.read { connection throws(DatabaseError) in
            try AccountTables.row(of: version, connection)?.account(openedWith: dataKey)
        }
    }

    /// Follows the others until it knows what the condition wants.
    func follows(until condition: (Account) -> Bool) async throws -> Bool {
        try await Wait.asTask {
            try store.follow(within: 20)
            return account().map(condition) ?? false
        }
    }
}

/// A request, and what becomes of it.
final class AskedRequest: Sendable {
    private let result = Mutex<Evidence.Admission?>(nil)

    init(_ admission: Evidence.Admission) {
        guard case .wait(let waiter) = admission else {
            result.withLock { $0 = admission }
            return
        }
        Task {
            let admission = await waiter.admission()
            result.withLock { $0 = admission ?? .refused(.superseded, nextTry: nil) }
        }
    }

    var isDecided: Bool { result.withLock { $0 != nil } }

    var attempt: Evidence.Attempt? {
        result.withLock { if case .send(let attempt)? = $0 { attempt } else { nil } }
    }

    var hold: Account.Hold? {
        result.withLock { if case .refused(let hold, _)? = $0 { hold } else { nil } }
    }
}

extension Wait {
    /// Waits without keeping a thread from the tasks that bring about what is waited for.
    static func asTask(until condition: () throws -> Bool) async rethrows -> Bool {
        try await until { () async throws -> Bool in try condition() }
    }
}
