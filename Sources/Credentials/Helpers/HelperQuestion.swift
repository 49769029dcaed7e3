import Authentication
import Bytes
import Crypto
import Model

/// A question to a credential helper: for which server, and why.
public struct HelperQuestion: Sendable {
    /// The value has changed, after a refusal or at the end of the former one.
    public struct Change: Sendable {
        public let version: CredentialVersion
        public let former: CredentialVersion
        public let wasRefused: Bool
    }

    /// The name of the credential.
    public let name: String
    /// The server; nil if the value is for no particular one.
    public let origin: Origin?
    /// The path of the request, if the helper is asked for it.
    public let path: String?
    /// The challenges of the response, as the proxy has read them.
    public let challenges: [String]
    /// The helper's notes from its latest answer, if that was one step of a login.
    var notes: [Secret] = []
    /// Whether it is for a further answer of a login.
    var isStep = false
    /// The value that the server has refused; nil for a first value, or after the end of the former one.
    public let refused: CredentialVersion?

    /// The questions and reports of a proxy to a git helper (gitcredentials(7), git-credential(1)).
    enum Git {
        /// The limits of challenges, and of one in bytes.
        static let (mostChallenges, longestChallenge) = (16, 4096)

        /// The line that a socket gets in the place of the program's argument. Helpers pass over lines that they do not
        /// know.
        static func action(_ action: String, of command: CommandSource) -> [UInt8] {
            command.socket == nil ? [] : Array("action=\(action)\n".utf8)
        }

        /// The input of `get`.
        static func get(_ origin: Origin, _ question: HelperQuestion) -> [UInt8] {
            var text = "capability[]=authtype\ncapability[]=state\n" + head(of: origin, question.path)
            let shown = question.challenges.lazy.filter { line in
                line.utf8.count <= longestChallenge && line.utf8.allSatisfy { $0 >= .space && $0 != .delete }
            }
            for challenge in shown.prefix(mostChallenges) { text += "wwwauth[]=\(challenge)\n" }
            var bytes = Array(text.utf8)
            for note in question.notes { append("state[]", note, to: &bytes) }
            bytes.append(.lineFeed)
            return bytes
        }

        private static func append(_ name: String, _ value: Secret, to bytes: inout [UInt8]) {
            bytes += Array("\(name)=".utf8)
            value.withBytes { bytes += $0.array }
            bytes.append(.lineFeed)
        }

        /// The input of `store` and `erase`.
        static func report(_ origin: Origin, _ path: String?, user: String?, _ record: [(name: String, value: Secret)])
            -> [UInt8]
        {
            let names = record.map(\.name)
            var text = names.contains("authtype") ? "capability[]=authtype\n" : ""
            if names.contains("state[]") { text += "capability[]=state\n" }
            var bytes = Array((text + head(of: origin, path) + (user.map { "username=\($0)\n" } ?? "")).utf8)
            for (name, value) in record { append(name, value, to: &bytes) }
            bytes.append(.lineFeed)
            return bytes
        }

        /// Git's paths have no slash at their start.
        private static func head(of origin: Origin, _ path: String?) -> String {
            let path = path.flatMap { path in
                path.utf8.allSatisfy { $0 >= .space && $0 != .delete } ? "path=\(path.drop { $0 == "/" })\n" : nil
            }
            return "protocol=\(origin.protocol.rawValue)\nhost=\(origin.helperHost)\n\(path ?? "")"
        }
    }
}

extension Origin {
    /// The URL of the server as helpers know it, without a path.
    var helperURL: String { "\(`protocol`.rawValue)://\(helperHost)" }

    /// The host as helpers know it: with the port, unless it is the scheme's own.
    var helperHost: String {
        let host = host.utf8.contains(.colon) ? "[\(host)]" : host
        let isUsual = `protocol` == .https && port == 443 || `protocol` == .http && port == 80
        return isUsual ? host : "\(host):\(portText)"
    }
}
