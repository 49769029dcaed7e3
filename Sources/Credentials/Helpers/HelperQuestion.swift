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
    /// The challenges of the response, as the proxy has read them.
    public let challenges: [String]
    /// The value that the server has refused; nil for a first value, or after the end of the former one.
    public let refused: CredentialVersion?

    public init(_ name: String, for origin: Origin?, challenges: [String] = [], refused: CredentialVersion?) {
        self.name = name
        self.origin = origin
        self.challenges = challenges
        self.refused = refused
    }
}

/// The questions and reports of a proxy to a git helper (gitcredentials(7), git-credential(1)).
enum GitQuestion {
    /// The limits of challenges, and of one in bytes.
    private static let (mostChallenges, longestChallenge) = (16, 4096)

    /// The input of `get`.
    static func get(_ origin: Origin, _ challenges: [String]) -> [UInt8] {
        var text = "capability[]=authtype\n" + head(of: origin)
        let shown = challenges.lazy.filter { line in
            line.utf8.count <= longestChallenge && line.utf8.allSatisfy { $0 >= .space && $0 != .delete }
        }
        for challenge in shown.prefix(mostChallenges) { text += "wwwauth[]=\(challenge)\n" }
        return Array((text + "\n").utf8)
    }

    /// The input of `store` and `erase`.
    static func report(_ origin: Origin, user: String?, _ record: [(name: String, value: Secret)]) -> [UInt8] {
        var bytes = Array((head(of: origin) + (user.map { "username=\($0)\n" } ?? "")).utf8)
        for (name, value) in record {
            bytes += Array("\(name)=".utf8)
            value.withBytes { bytes += $0.array }
            bytes.append(.lineFeed)
        }
        bytes.append(.lineFeed)
        return bytes
    }

    private static func head(of origin: Origin) -> String {
        "protocol=\(origin.protocol.rawValue)\nhost=\(origin.helperHost)\n"
    }
}

extension Origin {
    /// The host as helpers know it: with the port, unless it is the scheme's own.
    var helperHost: String {
        let host = host.utf8.contains(.colon) ? "[\(host)]" : host
        let isUsual = `protocol` == .https && port == 443 || `protocol` == .http && port == 80
        return isUsual ? host : "\(host):\(portText)"
    }
}
