import Bytes
import Model

/// A look at the certificates that a server presents.
public struct CertificateLook: Sendable {
    /// The certificates of servers, for an operator who decides about trust. Its calls do not wait: the result appears
    /// among `looks` soon.
    public protocol Desk: Sendable {
        /// The looks, the latest first.
        var looks: [CertificateLook] { get }

        /// Asks a server for its certificates, over a connection of its own.
        func look(at host: String, port: UInt16)

        /// Stores an exception for a key that was seen in a look.
        ///
        /// - Returns: the result.
        func accept(_ pin: String, of host: String, port: UInt16, until day: Day) -> DeskAnswer
    }

    public let host: String
    public let port: UInt16
    /// The time.
    public let time: WallTime
    public var outcome = Outcome.pending

    public enum Outcome: Sendable {
        case pending
        /// The server could not be asked.
        case failed(String)
        case seen(Seen)
    }

    public struct Seen: Sendable {
        /// The certificates with the facts about each, the server's own first.
        public var certificates: [(name: String, facts: [(name: String, value: String)])] = []
        public var findings: [String] = []
        public var isTrusted = false
        /// Whether the server is trusted, and why.
        public var sentence = ""
        /// The key's pin.
        public var pin = ""
        /// Whether an exception would make the server trusted, or already does.
        public var mayBeAccepted = false
        /// Lines for the rule file that would trust the server.
        public var suggestion: String?

        public init() {}
    }

    public init(host: String, port: UInt16, time: WallTime) {
        self.host = host
        self.port = port
        self.time = time
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("host", host)
            json.member("port", Int(port))
            json.member("time", AdminTime.text(time))
            switch outcome {
            case .pending: json.member("state", "pending")
            case .failed(let reason):
                json.member("state", "failed")
                json.member("reason", reason)
            case .seen(let seen):
                json.member("state", "seen")
                seen.write(to: &json)
            }
        }
    }
}

extension CertificateLook.Seen {
    fileprivate func write(to json: inout JSONText) {
        json.array("certificates") { json in
            for certificate in certificates {
                json.object { json in
                    json.member("name", certificate.name)
                    json.array("facts") { json in
                        for fact in certificate.facts {
                            json.array { json in
                                json.string(fact.name)
                                json.string(fact.value)
                            }
                        }
                    }
                }
            }
        }
        json.member("findings", findings)
        json.member("trusted", isTrusted)
        json.member("sentence", sentence)
        json.member("pin", pin)
        json.member("acceptable", mayBeAccepted)
        json.member("suggestion", suggestion)
    }
}
