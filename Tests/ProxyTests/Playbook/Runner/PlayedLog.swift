import Foundation

@testable import IO
@testable import Proxy

/// The access log of a played proxy, beside the requests that its clients made. It is written where the proxy hands its
/// lines over, by no thread of its own.
final class PlayedLog {
    let log: LogStream
    private let path: String
    /// The requests of all clients.
    private var requests: [Request] = []
    private var lines: [Line] = []
    /// The number of lines that a step has named.
    private var named = 0

    private struct Request {
        /// Content may stand before it.
        let method: Substring
        let target: Substring

        /// The log has no user information, and a client's own credential not in full; in a tunnel that is looked into it adds the host.
        func isLogged(as method: String, _ target: String) -> Bool {
            guard self.method.hasSuffix(method) else { return false }
            if target.hasSuffix(self.target) { return true }
            // Nor has it a credential of the client's own in a query.
            if target.contains("=***"), let query = target.firstIndex(of: "?") {
                return self.target.contains(target[...query])
            }
            guard let at = self.target.firstIndex(of: "@") else { return false }
            return target.hasSuffix(self.target[at...].dropFirst())
        }
    }

    private struct Line {
        let text: Substring
        let members: [String: String]

        init(_ text: Substring) {
            self.text = text
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
            members = (object as? [String: Any] ?? [:]).mapValues { value in
                // A rule by its name, or else by its place.
                guard let rule = value as? [String: Any] else { return "\(value)" }
                return rule["name"].map { "\($0)" } ?? "\(rule["file"] ?? ""):\(rule["line"] ?? "")"
            }
        }
    }

    /// Members that no line has unnamed.
    private static let strict = [
        "user", "rule", "scheme", "credential", "attempts", "parent_scheme", "parent_credential", "tunnel", "error",
    ]

    /// - Parameter folder: where its file is.
    init(in folder: String) throws {
        path = folder + "/access.log"
        let unaided = BlockingPool(threads: 1) { _ in false }
        log = LogStream(to: LineWriter(try OutputFile(appendingTo: path), on: unaided))
    }

    /// Takes note of the lines that the proxy has handed over.
    func read() {
        let all = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
        lines += all.dropFirst(lines.count).map { Line($0) }
    }

    /// Takes note of the requests that begin in what a client sends.
    func noteRequests(in bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\r\n") {
            guard let version = line.firstRange(of: " HTTP/1.") else { continue }
            let words = line[..<version.lowerBound].split(separator: " ", maxSplits: 1)
            requests.append(Request(method: words.first ?? "", target: words.last ?? ""))
        }
    }

    /// The lines that no step has named.
    var unnamed: [Substring] { lines.dropFirst(named).map(\.text) }

    /// - Returns: a sentence about how the oldest line that no step has named differs; nil: it is now named.
    func nameNext(_ text: MembersText, _ variables: inout Variables) -> String? {
        guard named < lines.count else { return "no exchange has left a line in the log" }
        if let difference = text.difference(from: lines[named].members, strict: Self.strict, &variables) {
            return difference
        }
        named += 1
        return nil
    }

    /// Each request leaves one line, and nothing else does.
    /// - Returns: a sentence about what is otherwise.
    var imbalance: String? {
        var rest = requests
        // A client that asks by SOCKS makes no request.
        let lines = lines.filter { $0.members["socks"] == nil }
        for line in lines {
            guard let method = line.members["method"], let target = line.members["target"] else { continue }
            guard let place = rest.firstIndex(where: { $0.isLogged(as: method, target) }) else {
                return "the log has a line too many for “\(method) \(target)”"
            }
            rest.remove(at: place)
        }
        let unread = lines.count { $0.members["method"] == nil }
        if rest.count < unread { return "the log has more lines than there were requests" }
        let missing = rest.map { "“\($0.method) \($0.target)”" }.joined(separator: ", ")
        return rest.count > unread ? "the log has no line for \(missing)" : nil
    }
}
