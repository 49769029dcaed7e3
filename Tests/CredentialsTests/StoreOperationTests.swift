import Authentication
import Bytes
import Crypto
import Foundation
import Model
import Testing

@testable import Credentials

/// Any sequence of operations gives the same answers from every storage, after each of them. A sequence that does not is
/// cut down to the operations that matter, and printed.
struct StoreOperationTests {
    private enum Operation: CustomStringConvertible {
        case set(user: String, password: String, space: Int, isDefault: Bool)
        case remove(user: String, space: Int)
        case makeDefault(user: String, space: Int)
        /// Several at once.
        case batch([Operation])
        /// A new process opens the store and continues with it.
        case reopen

        var description: String {
            switch self {
            case .set(let user, let password, let space, let isDefault):
                "set \(user.debugDescription) \(password.debugDescription) in \(space)\(isDefault ? " as default" : "")"
            case .remove(let user, let space): "remove \(user.debugDescription) from \(space)"
            case .makeDefault(let user, let space): "make \(user.debugDescription) the default of \(space)"
            case .batch(let operations): "at once: \(operations.map(\.description).joined(separator: ", "))"
            case .reopen: "reopen"
            }
        }

        static func random(using random: inout SeededGenerator, isInner: Bool = false) -> Operation {
            let user = ["a", "b", "ü", "a:b", " "].randomElement(using: &random) ?? ""
            let space = Int.random(in: 0..<StoreOperationTests.spaces.count, using: &random)
            switch Int.random(in: 0..<(isInner ? 6 : 9), using: &random) {
            case 0, 1: return .remove(user: user, space: space)
            case 2: return .makeDefault(user: user, space: space)
            case 3, 4, 5, 6:
                let password = ["", "p", "q", "\u{0}\u{1}", "pässwörd"].randomElement(using: &random) ?? ""
                return .set(user: user, password: password, space: space, isDefault: .random(using: &random))
            case 7:
                let count = Int.random(in: 0..<4, using: &random)
                return .batch((0..<count).map { _ in .random(using: &random, isInner: true) })
            default: return .reopen
            }
        }

        /// The operation as edits; empty if it makes none.
        var edits: [StoredCredentials.Edit] {
            let spaces = StoreOperationTests.spaces
            switch self {
            case .set(let user, let password, let space, let isDefault):
                let credential = Credential(
                    name: "any", user: user, password: Secret(password), persistence: .permanent)
                return [.set(credential, for: spaces[space], asDefault: isDefault)]
            case .remove(let user, let space): return [.remove(user: user, for: spaces[space])]
            case .makeDefault(let user, let space): return [.makeDefault(user: user, for: spaces[space])]
            case .batch(let operations): return operations.flatMap(\.edits)
            case .reopen: return []
            }
        }
    }

    /// They differ in one thing only.
    private static let spaces: [ProtectionSpace] = {
        let origin = Origin(host: "host", port: 80, protocol: .http)
        let proxy = Origin(host: "host", port: 80, protocol: .http, isProxy: true)
        return [
            ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .default),
            ProtectionSpace(origin: origin, realm: "", authenticationMethod: .basic),
            ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .basic),
            ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest),
            ProtectionSpace(origin: proxy, realm: "r", authenticationMethod: .basic),
        ]
    }()

    /// The expected result of all operations, in a model short enough to be checked by reading.
    private struct Model {
        private(set) var passwords: [Int: [String: String]] = [:]
        private(set) var defaults: [Int: String] = [:]

        mutating func apply(_ operation: Operation) {
            switch operation {
            case .set(let user, let password, let space, let isDefault):
                passwords[space, default: [:]][user] = password
                if isDefault { defaults[space] = user }
            case .remove(let user, let space):
                passwords[space]?[user] = nil
                if defaults[space] == user { defaults[space] = nil }
            case .makeDefault(let user, let space):
                if passwords[space]?[user] != nil { defaults[space] = user }
            case .batch(let operations): for operation in operations { apply(operation) }
            case .reopen: break
            }
        }

        var answers: [String] {
            passwords.flatMap { space, users in
                users.map { "\(space) \($0) \($1) \(defaults[space] == $0)" }
            }.sorted()
        }
    }

    /// A store that operations are done to, and another process that follows it.
    private struct Pair {
        let open: () throws -> CredentialStore
        var store: CredentialStore
        let follower: CredentialStore

        init(_ open: @escaping () throws -> CredentialStore) throws {
            self.open = open
            store = try open()
            follower = try open()
            try follower.follow(within: 0)
        }

        mutating func apply(_ operation: Operation) throws {
            if case .reopen = operation { store = try open() } else { try store.apply(operation.edits) }
        }
    }

    private enum Kind: CaseIterable {
        case sqlite, postgresql

        func make() throws -> Pair {
            switch self {
            case .sqlite:
                let path = try StoreFile.temporary()
                return try Pair { try StoreFile.open(path) }
            case .postgresql:
                let info = try PostgreSQLServer.shared.newDatabase()
                return try Pair { try PostgreSQLServer.shared.open(info) }
            }
        }
    }

    private static func answers(_ store: CredentialStore) -> [String] {
        store.credentials.map { kept in
            let space = spaces.firstIndex(of: kept.space) ?? -1
            let password = kept.credential.password?.withBytes { $0.text } ?? ""
            let isDefault = store.storage.defaultCredential(for: kept.space)?.user == kept.credential.user
            return "\(space) \(kept.credential.user ?? "") \(password) \(isDefault && kept.isDefault)"
        }.sorted()
    }

    private static func memoryAnswers(_ storage: StoredCredentials) async throws -> [String] {
        storage.allCredentials().flatMap { space, credentials in
            credentials.map { user, credential in
                let isDefault = storage.defaultCredential(for: space)?.user == user.text
                let password = credential.password?.withBytes { $0.text } ?? ""
                return "\(spaces.firstIndex(of: space) ?? -1) \(user) \(password) \(isDefault)"
            }
        }.sorted()
    }

    private static func apply(_ edits: [StoredCredentials.Edit], to storage: StoredCredentials) async throws {
        for edit in edits {
            switch edit {
            case .set(let credential, let space, let asDefault):
                if asDefault {
                    try await storage.setDefault(credential, for: space)
                } else {
                    try await storage.set(credential, for: space)
                }
            case .remove(let user, let space): try await storage.remove(user: user, for: space)
            case .makeDefault(let user, let space):
                if let credential = storage.credentials(for: space)[ExactText(user)] {
                    try await storage.setDefault(credential, for: space)
                }
            }
        }
    }

    /// The first operation of a sequence with an unexpected result, and that result; nil if none.
    private static func fault(in operations: [Operation]) async throws -> String? {
        var model = Model()
        var pairs = try Kind.allCases.map { (kind: $0, pair: try $0.make()) }
        let memory = StoredCredentials()
        for (number, operation) in operations.enumerated() {
            model.apply(operation)
            let expected = model.answers
            try await apply(operation.edits, to: memory)
            let place = "after \(number + 1): \(operation)"
            let answers = try await memoryAnswers(memory)
            if answers != expected { return "memory \(place): \(answers) and not \(expected)" }
            for index in pairs.indices {
                try pairs[index].pair.apply(operation)
                let answers = Self.answers(pairs[index].pair.store)
                if answers != expected { return "\(pairs[index].kind) \(place): \(answers) and not \(expected)" }
                // A follower need not see every step, but must see the last.
                guard number % 7 == 0 || number == operations.count - 1 else { continue }
                for _ in 0..<100 where Self.answers(pairs[index].pair.follower) != expected {
                    try pairs[index].pair.follower.follow(within: 50)
                }
                let seen = Self.answers(pairs[index].pair.follower)
                if seen != expected {
                    return "a follower of \(pairs[index].kind) \(place): \(seen) and not \(expected)"
                }
            }
        }
        return nil
    }

    /// The sequence without all that can be left away without losing the fault.
    private static func shrunk(_ operations: [Operation]) async throws -> [Operation] {
        var (operations, size) = (operations, operations.count / 2)
        while size > 0 {
            var start = 0
            while start < operations.count {
                var fewer = operations
                fewer.removeSubrange(start..<min(start + size, operations.count))
                if try await fault(in: fewer) != nil { operations = fewer } else { start += size }
            }
            size /= 2
        }
        return operations
    }

    /// `ATTACHE_SEEDS=N` runs so many more sequences.
    private static let seeds: ClosedRange<UInt64> = {
        let more = ProcessInfo.processInfo.environment["ATTACHE_SEEDS"].flatMap { UInt64($0) } ?? 0
        return 1...(4 + more)
    }()

    @Test(arguments: seeds)
    func `memory, SQLite and PostgreSQL agree after every operation, and so does who follows`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed)
        let operations = (0..<60).map { _ in Operation.random(using: &random) }
        guard let fault = try await Self.fault(in: operations) else { return }
        let least = try await Self.shrunk(operations)
        let list = least.map(\.description).joined(separator: "\n")
        Issue.record("seed \(seed): \(fault)\nthe shortest sequence found:\n\(list)")
    }
}
