import Authentication
import Crypto
import IO
import Synchronization

/// The proxy's own users: `user:hash` lines as htpasswd and `attache password` write them.
///
/// A good password is hashed once; after that its keyed code is remembered, never the password. The memory is emptied
/// whenever the file changes.
public final class UsersFile: Sendable {
    public let path: String
    private let code: MessageAuthenticationCode
    private let state = Mutex(State())

    private struct State {
        var text: [UInt8] = []
        var problems: [UsersFileProblem] = []
        /// By the name's bytes: strings that differ in their bytes can be equal, and rules compare bytes.
        var hashes: [[UInt8]: String] = [:]
        var proven: Set<UInt128> = []
        var generation = 0
    }

    /// Passwords remembered; beyond it all are forgotten, which costs one hash each.
    private static let memoryLimit = 4096
    private static let sizeLimit = 4 * 1024 * 1024

    /// Nothing is read yet: call `refresh` first.
    public init(path: String) throws(CryptoError) {
        self.path = path
        code = try .withRandomKey()
    }

    /// Reads the file and takes over what changed. A line that cannot be used is a problem of that line only; when the
    /// file cannot be read, what was read before holds. Blocks: never on a loop.
    public func refresh() -> [UsersFileProblem] {
        let text: [UInt8]
        do throws(FileError) {
            text = try SmallFile.read(path, limit: Self.sizeLimit)
        } catch {
            return [UsersFileProblem(path: path, line: nil, reason: .unreadable(error))]
        }
        if let known = state.withLock({ $0.text == text ? $0.problems : nil }) { return known }
        let (hashes, problems) = parse(text)
        state.withLock { state in
            state.text = text
            state.problems = problems
            state.hashes = hashes
            state.proven = []
            state.generation += 1
        }
        return problems
    }

    /// Whether this password was verified since the file last changed. Neither blocks nor allocates; false says
    /// nothing: ask `verify` off the loop.
    public func hasVerified(user: Span<UInt8>, password: Span<UInt8>) -> Bool {
        let code = code(user: user, password: password)
        return state.withLock { $0.proven.contains(code) }
    }

    /// Whether the user has this password. Hashes for tens of milliseconds, for an unknown user as well: never on a
    /// loop.
    public func verify(user: String, password: Secret) -> Bool {
        let (hash, anyHash, generation) = state.withLock { state in
            (state.hashes[Array(user.utf8)], state.hashes.values.first, state.generation)
        }
        guard let hash else {
            if let anyHash { _ = PasswordHash.verify(password, against: anyHash) }
            return false
        }
        guard PasswordHash.verify(password, against: hash) else { return false }
        let proof = password.withBytes { code(user: user.utf8Span.span, password: $0) }
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.proven.count >= Self.memoryLimit { state.proven = [] }
            state.proven.insert(proof)
        }
        return true
    }

    public var userCount: Int { state.withLock { $0.hashes.count } }

    private func code(user: Span<UInt8>, password: Span<UInt8>) -> UInt128 {
        var message = code.begin()
        message.update(user)
        message.update("\0")
        message.update(password)
        return code.code(of: message).prefix128
    }

    private func parse(_ text: [UInt8]) -> (hashes: [[UInt8]: String], problems: [UsersFileProblem]) {
        var hashes: [[UInt8]: String] = [:]
        var problems: [UsersFileProblem] = []
        for (index, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            switch UsersFileLine(bytes) {
            case .empty: continue
            case .user(let user, let hash) where hashes[Array(user.utf8)] == nil: hashes[Array(user.utf8)] = hash
            case .user: problems.append(UsersFileProblem(path: path, line: index + 1, reason: .duplicate))
            case .refused(let reason): problems.append(UsersFileProblem(path: path, line: index + 1, reason: reason))
            }
        }
        return (hashes, problems)
    }
}
