import Bytes
import Crypto
import IO
import Synchronization

/// A file with a line for each user of the proxy, or each token: its content, until another one is read.
final class ListFile<Content: Sendable>: Sendable {
    private struct State {
        var text: [UInt8] = []
        var problems: [UsersFile.Problem] = []
        var content: Content
    }

    let path: String
    /// Makes the codes that names and tokens are looked up by.
    let code: MessageAuthenticationCode
    private let changes = Atomic(0)
    private let state: Mutex<State>

    /// - Parameter content: the content before anything is read.
    init(path: String, _ content: Content) throws(CryptoError) {
        self.path = path
        code = try .withRandomKey()
        state = Mutex(State(content: content))
    }

    /// Reads the file and takes over what changed. A line that cannot be used is a problem of that line only; when the
    /// file cannot be read, what was read before holds. Blocks: never on a loop.
    ///
    /// - Parameters:
    ///   - parse: makes the content of the lines; called only where the file has changed.
    ///   - adopt: called when the content is in place, before `version` is another one.
    func refresh(_ parse: (inout ListLines) -> Content, adopt: () -> Void = {}) -> [UsersFile.Problem] {
        let text: [UInt8]
        do throws(FileError) {
            text = try SmallFile.read(path, limit: 4 * 1024 * 1024)
        } catch { return [UsersFile.Problem(path: path, line: nil, reason: .unreadable(error))] }
        if let known = state.withLock({ $0.text == text ? $0.problems : nil }) { return known }
        var lines = ListLines(path: path, text: text)
        let content = parse(&lines)
        let problems = lines.problems
        state.withLock { $0 = State(text: text, problems: problems, content: content) }
        adopt()
        changes.add(1, ordering: .releasing)
        return problems
    }

    /// A number that changes with the file.
    var version: Int { changes.load(ordering: .acquiring) }

    func withContent<Result: Sendable>(_ body: (Content) -> Result) -> Result {
        state.withLock { body($0.content) }
    }
}

/// The lines of such a file, and what is wrong with them.
struct ListLines {
    let path: String
    fileprivate let text: [UInt8]
    fileprivate(set) var problems: [UsersFile.Problem] = []

    fileprivate init(path: String, text: [UInt8]) {
        self.path = path
        self.text = text
    }

    /// Reads each line that is neither empty nor a comment, without spaces at its end: a space after a hash would
    /// become a part of it, and the line would match nothing.
    ///
    /// - Parameter read: returns the problem of the line, or nil.
    mutating func scan(_ read: (Substring) -> UsersFile.Problem.Reason?) {
        for (index, bytes) in text.split(separator: .lineFeed, omittingEmptySubsequences: false).enumerated() {
            let reason: UsersFile.Problem.Reason?
            if let text = String(validating: bytes, as: UTF8.self) {
                var line = text[...]
                while line.last?.isListBlank == true { line.removeLast() }
                reason = line.isEmpty || line.hasPrefix("#") ? nil : read(line)
            } else {
                reason = .notText
            }
            if let reason { problems.append(UsersFile.Problem(path: path, line: index + 1, reason: reason)) }
        }
    }

    /// Records a problem with the whole file.
    mutating func note(_ reason: UsersFile.Problem.Reason) {
        problems.append(UsersFile.Problem(path: path, line: nil, reason: reason))
    }
}

extension Character {
    var isListBlank: Bool { self == " " || self == "\t" || self == "\r" || self == "\r\n" }
}
