import Authentication
import Bytes
import Crypto
import IO
import Model

/// Reads what credential helpers print, which is not trusted. Nothing of it is used if a part is wrong.
public enum HelperOutput {
    /// The answer of a credential helper.
    public struct Answer: Sendable {
        public enum Content: Sendable {
            case password(user: String, Secret)
            case token(Secret)
            /// The value of `Authorization`, if any, and other fields.
            case fields(authorization: Secret?, [GivenAnswer.Field])
            /// Keys that sign requests.
            case keys(access: String, secret: Secret, token: Secret?)
            /// A certificate and its key, as PEM.
            case identity(certificate: Secret, key: Secret)
            case tokenAndIdentity(Secret, certificate: Secret, key: Secret)
        }

        public internal(set) var content: Content
        /// The time at which it ends; nil: not said.
        public var end: WallTime?
        /// Whether it is for one request alone.
        public var isEphemeral = false
        /// Whether the server is to challenge it, and the helper then gives another answer.
        public var continues = false
        /// The helper's notes to itself, which it gets with the next question.
        var notes: [Secret] = []
        /// The scheme that a git helper has named, in lower case, and its answer as it is.
        var scheme: String?
        var whole: Secret?
        /// The lines of a git helper that it gets again with `store` and `erase`.
        var record: [(name: String, value: Secret)] = []

        init(_ content: Content) { self.content = content }
    }

    /// The limit of one line in bytes (gitcredentials(7)).
    private static let longestLine = 65_535
    /// The limit of lines.
    private static let mostLines = 256
    /// The limit of `state[]`.
    private static let mostNotes = 16

    /// - Parameter kind: the helper's protocol.
    public static func read(_ output: [UInt8], as kind: HelperSource.Kind) throws(Fault) -> Answer {
        switch kind {
        case .plain: try plain(output)
        case .git: try git(output)
        case .docker: try JSON.docker(output)
        case .kubectl: try JSON.kubectl(output)
        case .aws: try JSON.aws(output)
        case .bazel: try JSON.bazel(output)
        case .cargo: try JSON.cargo(output)
        }
    }

    /// The lines without their ends. Text after the last line end is a line, too.
    ///
    /// - Parameter count: the limit of lines; nil: those after the first are not looked at.
    static func lines(_ output: [UInt8], count: Int?) throws(Fault) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = output[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: .lineFeed) ?? rest.endIndex
            let line = rest[..<end]
            guard line.count <= longestLine else { throw .longLine }
            guard !line.contains(where: { $0 < .space && $0 != .tab || $0 == .delete }) else { throw .control }
            lines.append(line)
            rest = rest[end...].dropFirst()
            guard let count else { break }
            guard lines.count <= count else { throw .manyLines(count) }
        }
        return lines
    }

    private static func plain(_ output: [UInt8]) throws(Fault) -> Answer {
        let lines = try lines(output, count: 2)
        guard let first = lines.first, !first.isEmpty else { throw .nothing }
        if lines.count == 1 { return Answer(.token(secret(first))) }
        return Answer(.password(user: try text(first), secret(lines[1])))
    }

    /// The lines of a git helper that have a meaning.
    private struct GitLines {
        var user: String?
        var password: Secret?
        var scheme: String?
        var credential: ArraySlice<UInt8>?
        var end: WallTime?
        var isEphemeral = false
        var continues = false
        var notes: [Secret] = []
    }

    private static func git(_ output: [UInt8]) throws(Fault) -> Answer {
        var said = GitLines()
        var record: [(name: String, value: Secret)] = []
        for line in try lines(output, count: mostLines) where !line.isEmpty {
            guard let equals = line.firstIndex(of: .equals), equals > line.startIndex else { throw .noEquals }
            let value = line[(equals + 1)...]
            let name = try text(line[..<equals])
            switch name {
            case "username": said.user = try text(value)
            case "password": said.password = secret(value)
            case "password_expiry_utc":
                said.end = value.span.text.utf8.count <= 15 ? Int(value.span.text).map { WallTime(seconds: $0) } : nil
            case "oauth_refresh_token": break
            case "authtype": said.scheme = try text(value)
            case "credential": said.credential = value
            case "ephemeral": said.isEphemeral = isTrue(value)
            case "continue": said.continues = isTrue(value)
            case "state[]":
                said.notes.append(secret(value))
                guard said.notes.count <= mostNotes else { throw .manyLines(mostNotes) }
            case "quit" where isTrue(value): throw .nothing
            // Others repeat the question, or belong to later versions of the protocol.
            default: continue
            }
            if !["username", "quit", "continue"].contains(name) { record.append((name, secret(value))) }
        }
        var answer = try answer(of: said)
        answer.isEphemeral = said.isEphemeral
        answer.end = said.end
        answer.record = record
        return answer
    }

    private static func answer(of said: GitLines) throws(Fault) -> Answer {
        guard let scheme = said.scheme, let credential = said.credential else {
            guard let user = said.user, let password = said.password, password.count > 0 else { throw .nothing }
            return Answer(.password(user: user, password))
        }
        guard scheme.utf8.allSatisfy(\.isTokenByte), !scheme.isEmpty else { throw .scheme(String(scheme.prefix(64))) }
        let whole = secret((Array("\(scheme) ".utf8) + credential)[...])
        var answer = Answer(.fields(authorization: whole, []))
        // A login in several steps is of that scheme alone.
        if !said.continues, let known = try known(scheme, credential) { answer.content = known }
        answer.scheme = scheme.lowercased()
        answer.whole = whole
        answer.continues = said.continues
        answer.notes = said.notes
        return answer
    }

    private static func isTrue(_ value: ArraySlice<UInt8>) -> Bool {
        ["1", "true", "yes", "on"].contains { value.elementsEqual($0.utf8) }
    }

    /// The content of `authtype` and `credential`, which are the field's scheme and the text after it; nil for a scheme
    /// that is unknown here.
    private static func known(
        _ scheme: String, _ credential: ArraySlice<UInt8>
    ) throws(Fault) -> Answer.Content? {
        switch scheme.lowercased() {
        case "bearer" where !credential.isEmpty: return .token(secret(credential))
        case "basic":
            guard let decoded = Base64.decode(credential.span), let colon = decoded.firstIndex(of: .colon) else {
                throw .notBasic
            }
            guard !decoded.contains(where: { $0 < .space || $0 == .delete }) else { throw .control }
            return .password(user: try text(decoded[..<colon]), secret(decoded[(colon + 1)...]))
        default: return nil
        }
    }

    static func text(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        return text
    }

    static func secret(_ bytes: ArraySlice<UInt8>) -> Secret {
        var bytes = Array(bytes)
        return Secret(wiping: &bytes)
    }

    /// The reason why a helper gave nothing, as a clause about the helper.
    public enum Failure: Sendable, Hashable, CustomStringConvertible {
        /// The program has failed, or the process at its socket.
        case run(HelperProgram.Failure)
        /// The output is not used.
        case output(HelperOutput.Fault)
        /// It takes longer than a request waits.
        case late

        /// Whether the next run may succeed, though nothing is changed.
        var isTransient: Bool {
            switch self {
            case .run(.system), .run(.unconnected), .run(.timedOut), .run(.killed), .late: true
            // A program that ends with an error may say so that it has no credential.
            case .run, .output: false
            }
        }

        /// Whether a helper of Docker's may say by it that it has no credential for the server: it has no other way.
        var mayMeanNone: Bool {
            switch self {
            case .output(.nothing), .run(.failed): true
            case .output, .run, .late: false
            }
        }

        public var description: String {
            switch self {
            case .run(let error): "\(error)"
            case .output(let fault): "\(fault)"
            case .late: "it takes too long"
            }
        }
    }

    /// The reason why the output of a helper is not used, as a clause about the helper.
    public enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// It has no credential for the server.
        case nothing
        case control
        case longLine
        case manyLines(Int)
        case noEquals
        case notJSON
        case notText
        case notBasic
        /// The answer has ended already.
        case ended
        /// The scheme is not a token.
        case scheme(String)
        /// The output lacks a member, or has another form.
        case form(String)
        case time
        /// A field that it may not set.
        case field(String)
        /// The reason in its own words.
        case said(String)

        public var description: String {
            switch self {
            case .nothing: "it has none"
            case .control: "its output has a control character"
            case .longLine: "its output has a line of more than 65535 bytes"
            case .manyLines(let count): "its output has more than \(count) lines"
            case .noEquals: "its output has a line without '='"
            case .notJSON: "its output is not a JSON object"
            case .notBasic: "its 'credential' is not the base64 of a user and a password"
            case .scheme(let scheme): "its 'authtype', '\(scheme)', is not the name of a scheme"
            case .form(let wanted): "its output is not \(wanted)"
            case .time: "its output has a time that is not of RFC 3339"
            case .field(let name): "it may not set the field \(name)"
            case .said(let words): "it says: \(words)"
            case .ended: "its answer has expired"
            case .notText: "its output is not UTF-8 text"
            }
        }
    }
}
