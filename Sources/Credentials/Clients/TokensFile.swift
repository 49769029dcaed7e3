import Bytes
import Crypto
import IO
import Synchronization

/// The tokens of the proxy's own users: `user:SHA-256` lines. A token is long and random, so that a plain hash of it
/// gives nothing away; a user may have several, as when one takes the place of another.
public final class TokensFile: Sendable {
    public let path: String
    private let code: MessageAuthenticationCode
    private let changes = Atomic(0)
    private let state = Mutex(State())

    private struct Entry {
        let user: String
        let digest: DigestValue
    }

    private struct State {
        var text: [UInt8] = []
        var problems: [UsersFileProblem] = []
        /// By a keyed code of the token's digest.
        var entries: [UInt128: Entry] = [:]
    }

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
        let (entries, problems) = parse(text)
        state.withLock { $0 = State(text: text, problems: problems, entries: entries) }
        changes.add(1, ordering: .releasing)
        return problems
    }

    /// Another number whenever the file has changed.
    public var version: Int { changes.load(ordering: .acquiring) }

    /// The user of this token; nil without one. Neither blocks nor allocates.
    public func user(of token: Span<UInt8>) -> String? {
        let digest = MessageDigest.digest(.sha256, of: token)
        let key = key(of: digest)
        guard let entry = state.withLock({ $0.entries[key] }) else { return nil }
        let isSame = entry.digest.withHexadecimal { known in digest.withHexadecimal { ConstantTime.equal(known, $0) } }
        return isSame ? entry.user : nil
    }

    /// Whether the user has any token.
    public func contains(_ user: String) -> Bool {
        state.withLock { $0.entries.values.contains { $0.user.utf8.elementsEqual(user.utf8) } }
    }

    private func parse(_ text: [UInt8]) -> (entries: [UInt128: Entry], problems: [UsersFileProblem]) {
        var entries: [UInt128: Entry] = [:]
        var problems: [UsersFileProblem] = []
        for (index, line) in text.split(separator: .lineFeed, omittingEmptySubsequences: false).enumerated() {
            let reason: UsersFileProblem.Reason?
            switch TokensFileLine(line) {
            case .empty: reason = nil
            case .refused(let why): reason = why
            case .token(let user, let digest):
                let key = key(of: digest)
                reason = entries[key] == nil ? nil : .duplicateToken
                if reason == nil { entries[key] = Entry(user: user, digest: digest) }
            }
            if let reason { problems.append(UsersFileProblem(path: path, line: index + 1, reason: reason)) }
        }
        return (entries, problems)
    }

    private func key(of digest: DigestValue) -> UInt128 {
        var message = code.begin()
        message.update(digest)
        return code.code(of: message).prefix128
    }
}

/// One line of a tokens file.
private enum TokensFileLine {
    case empty
    case token(String, digest: DigestValue)
    case refused(UsersFileProblem.Reason)

    init(_ bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .refused(.notText)
            return
        }
        let line = text.withoutBlanksAtEnd
        if line.isEmpty || line.hasPrefix("#") {
            self = .empty
            return
        }
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
            let bytes = Hex.decode(line[line.index(after: colon)...]), bytes.count == DigestAlgorithm.sha256.length,
            let digest = DigestValue(bytes)
        else {
            self = .refused(.noToken)
            return
        }
        let user = String(line[..<colon])
        let isBlank = user.first?.isListBlank == true || user.last?.isListBlank == true
        self = isBlank ? .refused(.blank) : .token(user, digest: digest)
    }
}
